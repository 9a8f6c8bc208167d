import { AUDIT_RETENTION_DAYS, MAX_WAIT_DAYS } from '../../core/limits.ts'
import { MAX_INTEGER, OPTIONAL, type Settings } from './setting.ts'

/** Limits of an organization, and how long things are kept. */
export const LIMITS = {
  maxOpenExecutions: {
    where: 'both',
    type: 'integer',
    default: 1_000,
    readBy: ['starts'],
    description:
      'Maximum executions in progress per organization, without [suspended](waiting.md) ones. Further runs get 429.',
  },
  maxSuspendedExecutions: {
    where: 'both',
    type: 'integer',
    default: 100_000,
    readBy: ['starts'],
    description:
      'Maximum [suspended](waiting.md#limits) executions per organization. A further one ends in `WaitLimitExceeded`.',
  },
  maxWaitDays: {
    where: 'both',
    type: 'integer',
    ...MAX_WAIT_DAYS,
    // Items are kept until after the latest possible end of their execution.
    readBy: ['starts', 'retention'],
    description: 'Days that all waits of a run may last [together](waiting.md#limits).',
  },
  largeBodyMbPerMinute: {
    where: 'both',
    type: 'integer',
    // About 1,000 write units of the table in each second.
    default: 60,
    min: 6,
    max: 100_000,
    readBy: ['bodies'],
    description:
      'Megabytes per minute in bodies of more than 256 kB, per organization. Further ones get 429.',
    local: { min: 1, max: MAX_INTEGER },
  },
  throttlingRate: {
    where: 'stack',
    type: 'integer',
    default: 1_000,
    max: 1_000_000,
    description:
      'Requests per second of each method of each path; of public methods at most 100. Further requests get 429.',
  },
  throttlingBurst: {
    where: 'stack',
    type: 'integer',
    // Half of an account's default burst, so that one API cannot starve the others.
    default: 2_500,
    max: 1_000_000,
    description: 'Requests at once above this rate; of public methods at most 200.',
  },
  executionRetentionDays: {
    ...OPTIONAL,
    type: 'integer',
    max: 3_650,
    readBy: ['all'],
    description:
      'Days from the end of an execution until it expires. Its steps and payloads are stored for `maxWaitDays` and 8 days more. If unset, executions are kept.',
    local: {
      max: MAX_INTEGER,
      description: 'As `executionRetentionDays`. Commands on the local table read it, too.',
    },
  },
  auditRetentionDays: {
    where: 'both',
    type: 'integer',
    ...AUDIT_RETENTION_DAYS,
    readBy: ['changes', 'audit-log'],
    description: 'Days for which the [audit log](identity.md#audit-log) keeps new changes.',
    local: { description: 'As `auditRetentionDays`. Commands on the local table read it, too.' },
  },
  eventBus: {
    ...OPTIONAL,
    type: 'eventBus',
    mayBeAttribute: true,
    // What is to be delivered is marked if there is a destination.
    readBy: ['changes', 'deliveries'],
    description:
      'Receives the [events](webhooks.md#eventbridge) of all organizations. `executionRetentionDays` must be at least 5, or unset.',
  },
  webhookUrls: {
    where: 'both',
    type: 'flag',
    default: false,
    readBy: ['run-webhooks'],
    description:
      'Lets tokens that may run an agent name a [URL](webhooks.md#one-run) for the events of their run or batch.',
  },
  webhookHosts: {
    ...OPTIONAL,
    type: 'hosts',
    readBy: ['private-hosts'],
    description:
      'Hosts with private addresses that [webhooks](webhooks.md), and tools of documents published over HTTP, may name in `allowedHosts`.',
    local: {
      description:
        'As `webhookHosts`. The organization of the development token also reaches loopback addresses.',
    },
  },
} as const satisfies Settings
