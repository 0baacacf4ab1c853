"""Training a tokenizer with UDPipe in a process of its own: CoNLL-U on standard input, a tokenizer on standard output.

UDPipe cannot be interrupted, talks to standard error, and is not ours; apart from us it can do no harm to a run.
"""

from __future__ import annotations

import sys


def main(options: str) -> None:
    from ufal import udpipe

    error = udpipe.ProcessingError()
    reader = udpipe.InputFormat.newInputFormat("conllu")
    reader.setText(sys.stdin.buffer.read().decode("utf-8"))
    sentences = udpipe.Sentences()
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
    if not error.occurred():
        none = udpipe.Trainer.NONE
        model = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), options, none, none, error)
    if error.occurred():
        sys.exit(error.message)
    sys.stdout.buffer.write(model)


if __name__ == "__main__":
    main(sys.argv[1])
