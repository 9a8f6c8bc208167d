import type { Access } from '../core/access.ts'
import { TooManyOpenRequests } from '../core/errors.ts'

/**
 * Requests that stay open while an execution runs, at a time and in this process: so many that no program needs more,
 * so few that one client cannot use up the memory and sockets of a process. On Lambda a process has one request at a
 * time; there the concurrency of the function is the limit (docs/decisions/0052).
 */
const LIMITS = {
  stream: { token: 20, organization: 200, name: 'event streams' },
  wait: { token: 128, organization: 512, name: 'requests that wait for an execution' },
} as const

/** How many are open, by kind and owner. */
const open = new Map<string, number>()

/**
 * Counts a request as open until the returned function is called.
 * @throws TooManyOpenRequests
 */
export function holdRequest(
  kind: keyof typeof LIMITS,
  { tokenId, organizationId }: Pick<Access, 'tokenId' | 'organizationId'>,
): () => void {
  const { token, organization, name } = LIMITS[kind]
  const counters = [
    { key: `${kind} ${organizationId} ${tokenId}`, max: token, owner: 'This token' },
    { key: `${kind} ${organizationId}`, max: organization, owner: 'Your organization' },
  ]
  const full = counters.find(({ key, max }) => countOf(key) >= max)
  if (full)
    throw new TooManyOpenRequests(`${full.owner} has ${full.max} ${name} at the same time, the maximum.`)
  const add = (change: 1 | -1) => {
    for (const { key } of counters) {
      const count = countOf(key) + change
      if (count === 0) open.delete(key)
      else open.set(key, count)
    }
  }
  add(1)
  let isOpen = true
  return () => {
    if (isOpen) add(-1)
    isOpen = false
  }
}

/** Counts a request as open while it is worked on. @throws TooManyOpenRequests */
export async function whileHeld<T>(
  ...[kind, access, work]: [...Parameters<typeof holdRequest>, () => Promise<T>]
) {
  const release = holdRequest(kind, access)
  return work().finally(release)
}

const countOf = (key: string): number => open.get(key) ?? 0
