import type { AuditEntry } from '../core/audit.ts'
import type { AuditRecord } from './records/audit-record.ts'

export const toAuditRecord = ({ organizationId: _, ...entry }: AuditEntry): AuditRecord => entry
