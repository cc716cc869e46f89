# SPDX-License-Identifier: Apache-2.0
"""Measure the time that the webhooks add to a create."""
import time


def latencies(server, obj, n=400):
    """Return p50 and p99 of n dry-run creates, in milliseconds."""
    taken = []
    for _ in range(n):
        began = time.perf_counter()
        status, body, _ = server.create(obj, dry_run=True)
        taken.append(time.perf_counter() - began)
        if status != 201:
            raise RuntimeError(f"a timed Pod: {body}")
    taken.sort()
    return [1000 * taken[int(len(taken) * q)] for q in (0.5, 0.99)]


def latency(server, configurations, obj):
    """Print the latencies with the webhooks and, after deleting their configurations,
    without them."""
    latencies(server, obj, 100)
    hooked = latencies(server, obj)
    for configuration in configurations:
        server.delete(configuration)
    time.sleep(1)
    bare = latencies(server, obj)
    print("create --dry-run=server of a Pod, ms: with both webhooks p50 "
          f"{hooked[0]:.2f} p99 {hooked[1]:.2f}, without p50 {bare[0]:.2f} "
          f"p99 {bare[1]:.2f}")
