import { type LimitSubject, type LimitsUse, leftOf, type StoredLimits } from '../core/usage-limits.ts'
import type { LimitsDetails, LimitsRecord, OwnLimits } from './schemas/limits-record.ts'

export const toLimitsRecord = ({
  subject: { kind, id },
  ...limits
}: StoredLimits & { subject: LimitSubject }): LimitsRecord => ({
  ...(kind === 'tenant' ? { tenantId: id } : { agentId: id }),
  ...limits,
})

export const toLimitsDetails = ({
  use,
  ...limits
}: Parameters<typeof toLimitsRecord>[0] & { use: LimitsUse }): LimitsDetails => ({
  ...toLimitsRecord(limits),
  ...use,
})

export const toOwnLimits = (limits: StoredLimits, use: LimitsUse): OwnLimits => ({
  ...limits,
  left: leftOf(limits, use),
})
