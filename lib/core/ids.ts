import { v5 } from 'uuid'

/** Namespace of agent ids (RFC 9562, name-based UUIDs). Changing it would orphan every published agent. */
const AGENT_NAMESPACE = '7f2e1d4c-52a8-4c55-9d3e-6b7b1a0c9e11'

/** Namespace of the ids of the subjects of identity providers. Changing it would change the authors of versions. */
const SUBJECT_NAMESPACE = '5b8f4c0e-3d1a-4e6f-9a27-c4d0e8b16f52'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const MAX_SLUG_LENGTH = 64

/** Namespace of ids that derive from what they are the id of. Changing it would double what is in progress. */
const DERIVED_NAMESPACE = 'c0a2f6b1-8d47-4e0b-a6e5-52f0f3d1b7c4'

export const isUuid = (text: string): boolean => UUID.test(text)

/** Tells an ID from others for people: UUIDv7 of one minute begin alike. */
export const shortId = (id: string): string => `${id.slice(0, 8)}…${id.slice(-4)}`

/** The milliseconds since the epoch in a UUIDv7. */
export const timeOfId = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

/** A UUIDv7 with this time (epoch milliseconds), whose random part is a hash of the name. */
export function derivedId(ms: number, name: string): string {
  const hashed = v5(name, DERIVED_NAMESPACE)
  return `${firstIdAt(ms)}-7${hashed.slice(15)}`
}

/** A text that sorts before every UUIDv7 from this time (epoch milliseconds) on, and after all earlier ones. */
export function firstIdAt(ms: number): string {
  const hex = Math.min(Math.max(ms, 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

/** A text that sorts after every UUIDv7 from the millisecond of this one, and before all later ones. */
export const lastIdWith = (id: string): string => `${id.slice(0, 13)}-ffff-ffff-ffffffffffff`

/**
 * A name that a client chooses freely: 1 to `max` characters without control characters. Ranges, because `\\p{Cc}` is
 * unknown to many clients that read OpenAPI.
 */
export const namePattern = (max: number): RegExp =>
  new RegExp(`^[^\\u0000-\\u001f\\u007f-\\u009f]{1,${max}}$`, 'u')

/** Lowercase words joined by hyphens, at most 64 characters. Never a UUID, because a path accepts either. */
export const isSlug = (text: string): boolean =>
  text.length <= MAX_SLUG_LENGTH && SLUG.test(text) && !UUID.test(text)

/** An agent's id derives from its organization and slug, so that resolving a slug needs no read. */
export function agentIdOf(organizationId: string, slug: string): string {
  const name = `${organizationId}/${slug}`
  const known = agentIds.get(name)
  if (known) return known
  if (agentIds.size === MAX_AGENT_IDS) agentIds.clear()
  const id = v5(name, AGENT_NAMESPACE)
  agentIds.set(name, id)
  return id
}

/** Each run resolves its slug. */
const agentIds = new Map<string, string>()
const MAX_AGENT_IDS = 10_000

/** The id of someone whom an identity provider knows: what an API token has, too. Neither text has a line break. */
export const subjectIdOf = (issuer: string, subject: string): string =>
  v5(`${issuer}\n${subject}`, SUBJECT_NAMESPACE)

/** The agent id for a UUID or slug in a path; undefined if the text is neither. */
export function agentIdFrom(organizationId: string, idOrSlug: string): string | undefined {
  if (isUuid(idOrSlug)) return idOrSlug.toLowerCase()
  if (isSlug(idOrSlug)) return agentIdOf(organizationId, idOrSlug)
  return undefined
}
