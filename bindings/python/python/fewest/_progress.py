"""Progress: a bar of tqdm if it is installed, else a line."""

import sys


class Progress:
    """Shows progress: a bar of tqdm if it is installed, else a line."""

    def __init__(self, verbose):
        self.verbose, self.bar, self.stage = verbose, None, None

    def __enter__(self):
        if callable(self.verbose):
            return self.verbose
        return self._show if self.verbose else None

    def _show(self, stage, done, total):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            sys.stderr.write(f"\r{stage}: {done} of {total}\033[K")
            self.bar = False
            return
        if stage != self.stage:
            self._close()
            self.bar, self.stage = tqdm(desc=stage, total=total), stage
        self.bar.update(done - self.bar.n)

    def _close(self):
        if self.bar:
            self.bar.close()
        elif self.bar is False:
            sys.stderr.write("\n")

    def __exit__(self, *error):
        self._close()
