"""Who may be signed in: the users of one service of an instance, with the time in which each may be current."""
import threading, time


class Users:
    """Changed by one actor in order; read by all.

    A user may be current from the moment that a sign-in is sent until the answer to a later change shows that the user is
    gone. An answer that names a user outside of that time names a former user.
    """

    def __init__(self):
        self.lock, self.eras = threading.Lock(), []

    def begin(self, user):
        """A sign-in of the user is about to be sent."""
        with self.lock:
            self.eras.append([user, time.monotonic(), None])

    def settle(self, user):
        """From now on this user is the only one; with `None` there is none."""
        now = time.monotonic()
        with self.lock:
            kept = None
            for era in self.eras:
                if era[2] is None:
                    if era[0] == user:
                        kept = era
                    era[2] = now
            if kept:
                kept[2] = None

    def drop(self, user):
        """The newest sign-in of this user has not happened."""
        with self.lock:
            for era in reversed(self.eras):
                if era[0] == user and era[2] is None:
                    era[2] = time.monotonic()
                    return

    def possible(self):
        """The users who may be current now."""
        with self.lock:
            return {era[0] for era in self.eras if era[2] is None}

    def may_be(self, user, since, until):
        """Whether the user may have been current at some moment of that time."""
        with self.lock:
            return any(name == user and begin <= until and (end is None or end >= since) for name, begin, end in self.eras)

    def __repr__(self):
        now = time.monotonic()
        with self.lock:
            return ", ".join(
                f"{name} from {begin - now:.3f} s to {'now' if end is None else f'{end - now:.3f} s'}"
                for name, begin, end in self.eras[-6:])
