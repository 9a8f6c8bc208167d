import { type Settings, STACK_FLAG, STACK_INTEGER, STACK_TEXT } from './setting.ts'

/** The table and the queues, and what protects them. */
export const STORAGE = {
  kms: {
    ...STACK_FLAG,
    description:
      'Encrypts the table and the queues with a customer managed KMS key, which outlives the stack.',
  },
  tableName: {
    ...STACK_TEXT,
    pattern: /^[\w.-]{3,255}$/,
    allowed: 'the name of a DynamoDB table in the same account and region',
    description:
      'Uses this table, for example a [restored](recovery.md) one. Its customer managed key, if it has one, must allow the account to use it through DynamoDB.',
  },
  paused: {
    where: 'stack',
    type: 'flag',
    default: null,
    readBy: ['all'],
    description:
      'Requests get 503, and no run continues. If unset, a service with `tableName` is paused. Set false to go live.',
  },
  warmReadUnits: {
    ...STACK_INTEGER,
    min: 12_000,
    description:
      'Read units per second that the table and each index take [at once](costs.md), paid once. Can only be raised.',
  },
  warmWriteUnits: {
    ...STACK_INTEGER,
    min: 4_000,
    description: 'The same in write units.',
  },
  provisionedReadUnits: {
    ...STACK_INTEGER,
    description:
      'Read units per second, paid per hour, that scale up to `maxReadUnits`; together with `provisionedWriteUnits`.',
  },
  provisionedWriteUnits: { ...STACK_INTEGER, description: 'The same in write units.' },
  maxReadUnits: {
    ...STACK_INTEGER,
    description:
      'Maximum read units per second of the table and each index. Further requests get 503. If unset, the quota of the account, or ten times `provisionedReadUnits`.',
  },
  maxWriteUnits: {
    ...STACK_INTEGER,
    description: 'The same in write units. An index at its limit throttles the table.',
  },
  cloudWatchRole: {
    where: 'stack',
    type: 'flag',
    default: true,
    description: 'Sets the role with which API Gateway writes logs in this account and region.',
  },
  deletionProtection: {
    ...STACK_FLAG,
    description:
      'Protects the table from deletion. Turn it on after the first successful deployment, not before.',
  },
} as const satisfies Settings
