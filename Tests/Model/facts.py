"""What the files of the kinds in Contract say: each kind's data, by the letter of its rows."""
import glob, json, os, tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
# The token provider of a run has them beside itself.
KEPT = os.path.join(HERE, "kinds.json")


def read():
    if os.path.exists(KEPT):
        with open(KEPT) as file:
            return json.load(file)
    found = []
    for path in glob.glob(os.path.join(HERE, "..", "..", "Contract", "SDKKinds", "*", "kind.toml")):
        with open(path, "rb") as file:
            found.append(tomllib.load(file))
    return {next(iter(kind["rows"]))[0].lower(): kind for kind in sorted(found, key=lambda kind: kind["place"])}


ALL = read()


def letter_of(kind):
    return next(letter for letter, data in ALL.items() if data["name"] == kind)


def filled(value, **places):
    """A value of JSON with the places in its texts filled."""
    if isinstance(value, dict):
        return {name: filled(one, **places) for name, one in value.items()}
    if isinstance(value, str):
        for name, text in places.items():
            value = value.replace("{%s}" % name, text)
    return value


def settings(letter, http, ws):
    """The settings of an instance at the backend with these URLs."""
    return filled(ALL[letter]["sandbox"]["settings"], http=http, ws=ws)
