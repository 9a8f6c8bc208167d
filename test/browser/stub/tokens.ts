import type { TokenRecord } from '../../../lib/contract/records/token.ts'
import { idOf } from './records.ts'

export const aToken = (number: number, overrides: Partial<TokenRecord> = {}): TokenRecord => ({
  id: idOf(700 + number),
  name: `token ${number}`,
  prefix: 'aes_kMBi',
  scopes: ['run', 'read'],
  ...{ agents: null, tenantId: null, rate: null },
  createdAt: '2026-11-20T09:00:00.000Z',
  createdBy: idOf(4),
  ...{ expiresAt: null, revokedAt: null, lastUsedAt: null },
  ...overrides,
})
