"""What the suites of the language of kernels have in common."""

import unittest

import retrograd as rg


class Language(unittest.TestCase):
    def setUp(self):
        rg.init()

    def tearDown(self):
        rg.reset()

    def refused(self, kernel, *args, error=rg.SyntaxError_, says, line=None):
        """The kernel is refused with such an error, whose message is behind the file, the line and the carets."""
        with self.assertRaises(error) as caught:
            kernel(*args)
        text = str(caught.exception)
        self.assertRegex(text.splitlines()[-1], says)
        self.assertRegex(text, r'File ".*test_kernels_\w+\.py", line \d+')
        if line is not None:
            shown, carets = text.splitlines()[-3:-1]
            self.assertEqual(shown[carets.index("^") : carets.rindex("^") + 1], line)
