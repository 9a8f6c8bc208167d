import { hasScope } from '../../access/permissions.ts'
import type { Access } from '../../core/access.ts'

/**
 * What a token gets to see of the record of an execution, a batch or a trial, whatever it did to get it: without the
 * scope `read`, only ID and status.
 * @param isOwn the request has brought all that the record has of others: then all but the feedback, which others give
 */
export function toSeenRecord<Seen extends { id: string; status: string }>(
  record: Seen,
  access: Pick<Access, 'scopes'>,
  isOwn = false,
): Seen | Pick<Seen, 'id' | 'status'> {
  if (hasScope(access, 'read')) return record
  if (isOwn) return 'feedback' in record ? { ...record, feedback: null } : record
  const { id, status } = record
  return { id, status }
}
