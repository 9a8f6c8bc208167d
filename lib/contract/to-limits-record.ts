import {
  type LimitSubject,
  type LimitsUse,
  leftOf,
  ownerOf,
  type StoredLimits,
} from '../core/usage-limits.ts'
import type { LimitsDetails, LimitsRecord, OwnLimits } from './records/limits-record.ts'

export const toLimitsRecord = ({
  subject,
  ...limits
}: StoredLimits & { subject: LimitSubject }): LimitsRecord => ({ ...ownerOf(subject), ...limits })

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
