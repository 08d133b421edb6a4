"""The form of the descriptions of members. The comments of the clients are these texts."""
import re

#: A description is a sentence, or makes one with "is" before it.
FORM = re.compile(r"(the|a|an|whether) [\w`]|possible causes$|[A-Z].*\.$")


def check(owner, text):
    """Fails for a description that is no comment of a client."""
    if not FORM.match(" ".join(text.split())):
        raise ValueError(f"{owner} needs a description that begins with the, a or whether: {text}")
