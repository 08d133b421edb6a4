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
  /// One wrapper joins the words that bash has split at `=`, `:` and `@`, such as `key=value` and `user:name`. It is also
  /// needed because bash treats all words as file names: it would write `key\= ` where a value must follow. The other
  /// moves options of all verbs from before the verb to after it, as `CommandLineOrder.normalized` does: the generated
  /// functions know them only there.
  private static let bashEnding = #"""
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

    __sdkctl_verb_first() {
        local IFS=$' \t\n'
        local -a options=() verb=()
        local -i next=1 count=1 is_value=0
        while [[ "${next}" -lt "${current}" ]]; do
            case "${all[next]}" in
            \#(pattern(GlobalOptions.words)) | \#(pattern(GlobalOptions.wordsWithValue.map { "\($0)=*" })))
                options+=("${all[next]}")
                next+=1
                ;;
            \#(pattern(GlobalOptions.wordsWithValue)))
                options+=("${all[next]}")
                next+=1
                if [[ "${next}" -eq "${current}" ]]; then
                    is_value=1
                    break
                fi
                options+=("${all[next]}")
                next+=1
                ;;
            *) break ;;
            esac
        done
        if [[ "${is_value}" -eq 1 || ( "${next}" -eq "${current}" && "${all[current]}" == -* ) ]]; then
            # The verb is not typed yet. status has the options of all verbs.
            verb=(status)
            count=0
        elif [[ "${next}" -eq 1 || "${all[next]}" == -* ]]; then
            local -r COMP_CWORD="${current}"
            local -ar COMP_WORDS=("${all[@]}")
            _sdkctl "${1}" "${typed}" "${all[current - 1]}"
            return
        else
            case "${all[next]}" in
            \#(pattern(CommandLineOrder.groups))) [[ "${next}" -lt "${current}" ]] && count=2 ;;
            esac
            verb=("${all[@]:next:count}")
        fi
        local -a words=("${all[0]}" "${verb[@]}" "${options[@]}" "${all[@]:next + count}")
        local -i index="$((1 + current - next))"
        [[ "${current}" -ge "$((next + count))" ]] && index+="$((${#verb[@]} + ${#options[@]} - count))"
        local -a before=("${words[@]:0:index}")
        local -r until="${before[*]} ${typed}"
        local -r COMP_LINE="${words[*]}" COMP_POINT="${#until}" COMP_CWORD="${index}"
        local -ar COMP_WORDS=("${words[@]}")
        _sdkctl "${1}" "${typed}" "${words[index - 1]}"
    }

    __sdkctl_without_escapes() {
        local rest="${COMP_LINE}" typed='' word
        local -a all=()
        local -i number current=0
        for number in "${!COMP_WORDS[@]}"; do
            word="${COMP_WORDS[number]}"
            if [[ "${number}" -eq 0 || "${rest}" == [[:blank:]]* ]]; then
                rest="${rest#"${rest%%[![:blank:]]*}"}"
                [[ "${number}" -gt "${COMP_CWORD}" ]] || typed="${rest}"
                all+=('')
            fi
            all[-1]+="${word}"
            rest="${rest#"${word}"}"
            [[ "${number}" -gt "${COMP_CWORD}" ]] || current="$((${#all[@]} - 1))"
        done
        # What follows the cursor is not typed yet.
        local -i behind="$((${#COMP_LINE} - COMP_POINT))"
        typed="${typed:0:$((${#typed} > behind ? ${#typed} - behind : 0))}"
        __sdkctl_verb_first "$@"
        # bash replaces only the part that it calls the word.
        COMPREPLY=("${COMPREPLY[@]#"${typed%"${2}"}"}")
        for word in "${COMPREPLY[@]}"; do
            [[ "${word}" == *[=/] ]] || return 0
        done
        [[ "${#COMPREPLY[@]}" -eq 0 ]] || compopt +o filenames -o nospace
    }

    complete -o filenames -F __sdkctl_without_escapes sdkctl

    """#

  /// Returns a pattern of bash that matches each of these words.
  private static func pattern(_ words: some Sequence<String>) -> String { words.sorted().joined(separator: " | ") }
}
