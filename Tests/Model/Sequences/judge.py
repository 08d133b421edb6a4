"""All rules. The text of each is its documentation."""
from history import History
from rules_calls import answered, shared, unchanged, waits
from rules_events import failing_bridge, followed, outcomes, restarted
from rules_readers import other_people, stored_values
from rules_vendor import presence, spent_once

RULES = [other_people, answered, outcomes, presence, followed, stored_values, restarted, spent_once, failing_bridge, waits, shared,
         unchanged]


def judge(record, numbers=None):
    """Returns what is broken, as pairs of the rule's text and what was seen.

    `numbers` are those of the rules that count; all by default.
    """
    history = History(record)
    rules = [rule for rule in RULES if not numbers or rule.__doc__.split(":")[0] in numbers]
    return [(rule.__doc__, what) for rule in rules for what in rule(history)]
