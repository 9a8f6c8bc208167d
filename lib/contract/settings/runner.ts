import { MAX_INTEGER, type Settings, STACK_INTEGER, STACK_LIST } from './setting.ts'

/** The retention periods of CloudWatch Logs, except "never expire". */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const

/** How CodeDeploy shifts requests from one release to the next, or all at once without it. */
const DEPLOYMENTS = [
  'allAtOnce',
  'canary10Percent5Minutes',
  'canary10Percent10Minutes',
  'canary10Percent15Minutes',
  'canary10Percent30Minutes',
  'linear10PercentEvery1Minute',
  'linear10PercentEvery2Minutes',
  'linear10PercentEvery3Minutes',
  'linear10PercentEvery10Minutes',
] as const

export type DeploymentName = (typeof DEPLOYMENTS)[number]

/** Functions: their concurrency, memory, network, logs and releases. */
export const RUNNER = {
  runnerConcurrency: {
    ...STACK_INTEGER,
    shownDefault: '`50`',
    min: 2,
    max: 1_000,
    description:
      'Maximum concurrent runners of code agents, and as many of model agents. The default is lower if `accountConcurrency` has no room for it.',
  },
  runnerBatch: {
    where: 'stack',
    type: 'integer',
    default: 10,
    max: 10,
    description:
      'Maximum runs in one invocation. Runs of agents that have code or call other agents have their own.',
  },
  runnerInstanceVcpus: {
    ...STACK_INTEGER,
    // What Lambda accepts as the maximum of a capacity provider.
    min: 12,
    max: 15_000,
    description:
      'Model agents, and synchronous runs, are on [managed instances](deploy.md) with at most this many vCPUs. Requires `vpcId`.',
  },
  accountConcurrency: {
    ...STACK_INTEGER,
    min: 10,
    description:
      "The account's quota of concurrent executions. From 200 on, it is [reserved](costs.md) for critical functions and shared between organizations; below 100, only shared. If unset, the sweeper reads it, and from 100 on waiting requests and runners can stop everything.",
  },
  agentMemoryMb: {
    where: 'both',
    type: 'integer',
    default: 480,
    min: 256,
    max: 10_240,
    readBy: ['agents'],
    description:
      'Memory of the functions that run agents. CPU and price are proportional to it. Half of it is for code agents, which start faster with 1,024.',
    local: {
      default: 512,
      min: 1,
      max: MAX_INTEGER,
      description: "Limit of the heap and of the buffers of a code agent's run.",
    },
  },
  vpcId: {
    ...STACK_LIST,
    pattern: /^vpc-[0-9a-f]{8}([0-9a-f]{9})?$/,
    max: 1,
    mayBeAttribute: true,
    allowed: 'the id of a VPC, together with `subnetIds`',
    description: '[VPC](deploy.md) of the functions that run agents, for private hosts in `allowedHosts`.',
  },
  subnetIds: {
    ...STACK_LIST,
    pattern: /^subnet-[0-9a-f]{8}([0-9a-f]{9})?$/,
    max: 16,
    mayBeAttribute: true,
    allowed: 'ids of up to 16 subnets, separated by commas, together with `vpcId`',
    description:
      'Private subnets in at least two availability zones that reach models, the table and the queues.',
  },
  securityGroupIds: {
    ...STACK_LIST,
    pattern: /^sg-[0-9a-f]{8}([0-9a-f]{9})?$/,
    max: 5,
    mayBeAttribute: true,
    allowed: 'ids of up to 5 security groups, separated by commas, together with `vpcId`',
    description: 'Their security groups. If unset, the stack creates one for outbound connections.',
  },
  logRetentionDays: {
    where: 'stack',
    type: 'choice',
    default: 30,
    values: LOG_RETENTION_DAYS,
    description:
      'Retention of function logs and access logs. They outlive the stack, unless it is 1: then they are deleted with it.',
  },
  monitoring: {
    where: 'stack',
    type: 'flag',
    default: true,
    description:
      'Creates the dashboard and the [alarms](operations.md), for a fixed monthly [price](costs.md).',
  },
  alarmSubscriptions: {
    where: 'stack',
    type: 'alarmTargets',
    default: null,
    allowed:
      'email addresses, https URLs, phone numbers such as `+4915112345678`, and ARNs of Lambda functions, SQS queues and SNS topics, separated by commas',
    description: 'Receive [notifications](operations.md) of alarms. Addresses and URLs have to confirm.',
  },
  deployment: {
    where: 'stack',
    type: 'choice',
    default: 'allAtOnce',
    values: DEPLOYMENTS,
    description:
      'How a [release](deploy.md#canaries) replaces the previous one: at once, or in steps, which an alarm reverts. Steps require `monitoring=true`.',
  },
} as const satisfies Settings
