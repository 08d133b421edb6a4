"""The steps of sequences: how they are drawn, and shortened to those that matter within a number of tries."""
import asyncio, os, sys, unittest

SEQUENCES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [SEQUENCES, os.path.dirname(SEQUENCES)]
from known import KNOWN
from moves import Moves
from shrink import shortest
from stories import Story, steps_of, text


class StoryTests(unittest.TestCase):
    def shorten(self, steps, needed, tries=1000):
        self.asked = 0

        async def fails(rest):
            self.asked += 1
            return needed <= set(rest)

        return asyncio.run(shortest(list(steps), fails, tries))

    def test_only_the_steps_that_matter_are_left_in_their_order(self):
        for needed in ({0}, {19}, {3, 4}, {0, 19}, {1, 7, 8, 15}, set(range(20))):
            self.assertEqual(self.shorten(range(20), needed), sorted(needed))

    def test_a_sequence_that_always_fails_becomes_empty(self):
        self.assertEqual(self.shorten(range(9), set()), [])

    def test_no_more_than_the_tries_are_made_and_what_was_found_is_kept(self):
        found = self.shorten(range(64), {5, 60}, tries=12)
        self.assertEqual(self.asked, 12)
        self.assertLess(len(found), 64)
        self.assertLessEqual({5, 60}, set(found))

    def test_a_number_draws_the_same_steps_each_time(self):
        for letter in "msfce":
            for number in range(50):
                self.assertEqual(Story(letter, number).steps, Story(letter, number).steps)
        self.assertNotEqual(Story("m", 1).steps, Story("m", 2).steps)

    def test_each_step_can_be_made_and_shown(self):
        own = {"kill", "restart", "pace", "hold", "fault", "delegate", "revoke", "rest", "settings"}
        known = [steps_of(letter, number) for number, (letter, *_) in enumerate(KNOWN)]
        drawn = [steps_of(letter, number) for letter in "msfce" for number in range(100, 300)]
        for steps in known + drawn:
            self.assertEqual([step["at"] for step in steps], list(range(len(steps))))
            for step in steps:
                self.assertTrue(step["do"] in own or hasattr(Moves, step["do"].replace(" ", "_")), step)
                self.assertIn(step["do"], text(step))


if __name__ == "__main__":
    unittest.main()
