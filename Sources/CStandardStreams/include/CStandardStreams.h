// Nothing to call: a program that links this target has its standard streams open before its first line.
#pragma once
