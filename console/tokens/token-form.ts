import { SCOPES, type Scope } from '../../lib/core/access.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import type { NewToken } from './tokens.ts'

/** What the fields of the form are called, by the member of the request that they set. */
export const LABELS = {
  name: 'Name',
  scopes: 'Scopes',
  agents: 'Agents',
  tenantId: 'Tenant',
  rate: 'Requests per second',
  expiresAt: 'Days until it expires',
} as const

export const SCOPE_HELP: Record<Scope, string> = {
  run: 'start and cancel runs',
  read: 'read everything',
  manage: 'publish, change and delete, and create tokens',
  review: 'give feedback that runs learn from',
  approve: 'decide on approvals',
}

export function toNewToken(form: FormData, now: number): NewToken {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const chosen = form.getAll('scopes')
  const agents = text('agents')
    .split(/[\s,]+/)
    .filter((agent) => agent !== '')
  const [tenantId, rate] = [text('tenantId'), text('rate')]
  return {
    name: text('name'),
    scopes: SCOPES.filter((scope) => chosen.includes(scope)),
    ...(agents.length > 0 && { agents }),
    ...(tenantId !== '' && { tenantId }),
    ...(rate !== '' && { rate: Number(rate) }),
    expiresAt: toExpiry(text('days'), now),
  }
}

/** @param days empty for never */
export const toExpiry = (days: string, now: number): string | null =>
  days === '' ? null : new Date(now + Number(days) * DAY_MS).toISOString()
