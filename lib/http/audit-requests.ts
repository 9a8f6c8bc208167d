import { audited, type Begin, type Note } from '../access/audit-log.ts'
import { mayTeach } from '../access/permissions.ts'
import type { Access } from '../core/access.ts'
import { FRONT_MATTER } from '../core/agent.ts'
import type { AuditAction, AuditSource, AuditTarget } from '../core/audit.ts'
import {
  actorOf,
  MAX_USER_AGENT_CHARACTERS,
  targetOf,
  toShown,
  withoutResults,
} from '../core/audit-request.ts'
import { agentIdFrom } from '../core/ids.ts'
import { isJsonObject } from '../core/json/json.ts'
import type { AuditStore } from '../core/ports/access.ts'
import { system } from '../system.ts'
import type { ServiceEvent } from './event.ts'

/** Makes the change that a request asks for, and records it. */
export type AuditRequests = <T>(
  request: { action: AuditAction; access: Access; event: ServiceEvent },
  change: (note: Note, begin: Begin) => Promise<T>,
) => Promise<T>

/** For the option `audit` of `endpoint`. */
export const auditRequests =
  (audit: AuditStore): AuditRequests =>
  ({ action, access, event }, change) => {
    // Feedback of those who only run agents belongs to their runs.
    if (action === 'execution.review' && !mayTeach(access)) return change(NOT_RECORDED, NOT_RECORDED)
    const { organizationId } = access
    const { json, query, pathParameters } = event
    const given = withoutResults(action, {
      ...(isJsonObject(query) && query),
      ...(isJsonObject(json) && json),
    })
    const slug = action === 'agent.publish' ? slugOf(given) : undefined
    const target: AuditTarget =
      slug === undefined
        ? targetOf(action, organizationId, pathParameters ?? {})
        : { kind: 'agent', id: agentIdFrom(organizationId, slug) ?? null }
    const described = {
      organizationId,
      ...(event.operator ?? { actor: actorOf(access), source: sourceOf(event, 'HTTP') }),
      action,
      target,
      changes: { ...given, ...(slug !== undefined && { slug }) },
    }
    return audited({ audit, system }, described, change)
  }

const NOT_RECORDED = async () => undefined

/** From where a request comes. Headers such as `X-Forwarded-For` are not trusted: clients write them. */
export function sourceOf(
  { requestContext: { identity } }: ServiceEvent,
  via: AuditSource['interface'],
): AuditSource {
  const { sourceIp, userAgent } = identity ?? {}
  return {
    interface: via,
    ...(sourceIp && { ip: toShown(sourceIp) }),
    ...(userAgent && { userAgent: toShown(userAgent, MAX_USER_AGENT_CHARACTERS) }),
  }
}

/** As its front matter probably has it; the change tells which one it is. */
function slugOf({ document, slug }: Record<string, unknown>): string | undefined {
  const [, yaml = ''] = typeof document === 'string' ? (FRONT_MATTER.exec(document) ?? []) : []
  const [, named] = /^slug: *["']?([a-z0-9-]{1,64})["']?[ \r]*$/m.exec(yaml) ?? []
  return named ?? (typeof slug === 'string' ? slug : undefined)
}
