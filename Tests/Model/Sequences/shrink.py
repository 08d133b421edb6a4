"""The shortest part of a sequence that still fails."""


async def shortest(steps, fails, tries=80):
    """Leaves out halves, then ever smaller pieces, until no single step can be left out.

    `fails` says of a list of steps whether it fails, and is asked at most `tries` times.
    """
    size = max(1, len(steps) // 2)
    while steps:
        end, was_shortened = len(steps), False
        while end > 0 and tries > 0:
            begin = max(0, end - size)
            rest = steps[:begin] + steps[end:]
            tries -= 1
            if await fails(rest):
                steps, was_shortened = rest, True
            end = begin
        if tries <= 0 or (size == 1 and not was_shortened):
            break
        size = size if was_shortened and size == 1 else max(1, size // 2)
    return steps
