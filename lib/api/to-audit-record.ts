import type { AuditEntry } from '../core/audit.ts'
import type { AuditRecord } from './schemas/audit-record.ts'

export const toAuditRecord = ({ organizationId: _, ...entry }: AuditEntry): AuditRecord => entry
