# SPDX-License-Identifier: Apache-2.0
"""Write reviews of Workflows that are expensive to read.

usage: hostile.py FOLDER

Each file SIZE-OPERATION.json is one review; SIZE is in MB. The strings of the
object are manifests with brackets that are nested 300 deep. The webhook denies
the object, also if it stops parsing strings because their budget is used up.
"""
import os
import sys

from review import dump, review

BRACKETS = "[" + ("[" * 300 + "]" * 300 + ", ") * 22 + "]"


def workflow(n):
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
            "metadata": {"name": "a", "namespace": "ml"},
            "spec": {"templates": [{"name": "t%d" % i, "resource": {
                "action": "create",
                "manifest": "kind: Pod\nspec: " + BRACKETS}}
                for i in range(n)]}}


def main(folder):
    os.makedirs(folder)
    for size, n in ("0.1", 7), ("1.0", 75), ("2.9", 218):
        new = workflow(n)
        dump(review(new), f"{folder}/{size}-CREATE.json")
        dump(review(new, "UPDATE", workflow(n)), f"{folder}/{size}-UPDATE.json")


if __name__ == "__main__":
    main(sys.argv[1])
