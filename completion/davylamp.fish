# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for davylamp: @DATA_DIR@/words has the words, from --help.

function __davylamp_words
    set -l words (commandline -opc)
    contains -- -- $words; and return
    @DATA_DIR@/words $words
end

complete -c davylamp -n 'test -n "$(__davylamp_words)"' -f -a '(__davylamp_words)'
