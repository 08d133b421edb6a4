import Glibc

exit(Wrapper(arguments: Array(CommandLine.arguments.dropFirst())).run())
