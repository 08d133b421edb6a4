import ArgumentParser

/// `sdkctl completion bash|zsh|fish`: prints the script with which a shell completes the words of `sdkctl`.
struct CompletionVerb: Verb {
  /// The supported shells.
  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case bash, zsh, fish

    fileprivate var script: CompletionShell {
      switch self {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    }
  }

  static let configuration = CommandConfiguration(
    verb: "completion", abstract: "Print the script by which a shell completes sdkctl's words.",
    discussion: """
      The package installs it for all three shells. By hand, in bash: source <(sdkctl completion bash). Instances, kinds, \
      settings, methods and the like are asked of the daemon; without one there are just verbs and options.
      """,
    examples: [
      "sdkctl completion bash > ~/.local/share/bash-completion/completions/sdkctl"
    ])

  @Argument(help: "The shell.")
  var shell: Shell

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    try context.output.text(CommandRoot.completionScript(for: shell.script) + "\n")
    if shell == .bash { try context.output.text(Self.bashEnding) }
  }

  /// Bash code that replaces a function of the generated script and wraps its entry.
  ///
  /// The generated function passes words to `compgen -W`, which expands each of them, command substitutions included.
  /// The wrapper is needed because bash treats all words as file names: it would write `key\= ` where a value must
  /// follow.
  private static let bashEnding = """
    __sdkctl_add_completions() {
        local word
        if [[ "${1}" == -W ]]; then
            while IFS='' read -r word; do
                [[ -n "${word}" && "${word}" == "${cur}"* ]] && COMPREPLY+=("${word}")
            done <<<"${2}"
        else
            while IFS='' read -r word; do
                COMPREPLY+=("${word}")
            done < <(compgen "${@}" -- "${cur}")
        fi
    }

    __sdkctl_without_escapes() {
        _sdkctl "$@"
        local word
        for word in "${COMPREPLY[@]}"; do
            [[ "${word}" == *= ]] || return 0
        done
        [[ "${#COMPREPLY[@]}" -eq 0 ]] || compopt +o filenames -o nospace
    }

    complete -o filenames -F __sdkctl_without_escapes sdkctl

    """
}
