/** Every setting that adds something to the stack or changes it. `settings.test.ts` compares the names. */
export const ALL_OPTIONS = {
  stageName: 'v1',
  httpPublishing: true,
  corsOrigins: 'https://app.example.com, https://b.example.com',
  defaultModel: 'openai/gpt-5',
  embeddingModel: 'openai/text-embedding-3-small',
  modelPrices: '{"openai/*":{"input":1,"output":2}}',
  modelEndpoints: '{"groq":{"baseUrl":"https://api.groq.com/openai/v1"}}',
  maxOpenExecutions: 10,
  maxSuspendedExecutions: 20,
  maxWaitDays: 365,
  largeBodyMbPerMinute: 6,
  throttlingRate: 10,
  throttlingBurst: 20,
  executionRetentionDays: 30,
  auditRetentionDays: 90,
  eventBus: 'events',
  webhookUrls: true,
  webhookHosts: 'receiver.internal:8080',
  runnerConcurrency: 5,
  runnerBatch: 5,
  runnerInstanceVcpus: 12,
  accountConcurrency: 1_000,
  agentMemoryMb: 2048,
  logRetentionDays: 365,
  alarmSubscriptions: 'ops@example.com',
  deployment: 'canary10Percent5Minutes',
  domainName: 'agents.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0e1f-2a',
  domainBasePath: 'agents/v1',
  publicUrl: 'https://agents.example.com/agents/v1/',
  oidcIssuer: 'https://login.example.com/',
  oidcAudience: 'https://agents.example.com, api://agents',
  oidcMapping: '{"organization":"0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48","scopes":["run","read"]}',
  oidcClientId: 'console',
  oidcScope: 'openid profile',
  oidcTokenOrigin: 'https://token.example.com',
  disableExecuteApiEndpoint: true,
  vpcId: 'vpc-0123456789abcdef0',
  subnetIds: 'subnet-0123456789abcdef0,subnet-1123456789abcdef0',
  securityGroupIds: 'sg-0123456789abcdef0',
  webAcl: true,
  kms: true,
  tableName: 'restored',
  // A paused service has no canaries.
  paused: false,
  warmReadUnits: 20_000,
  warmWriteUnits: 10_000,
  provisionedReadUnits: 10,
  provisionedWriteUnits: 10,
  maxReadUnits: 100,
  maxWriteUnits: 100,
  deletionProtection: true,
  openaiKeyParameter: '/team/openai',
  anthropicKeyParameter: '/team/anthropic',
}

/** Each kind of target of alarms. */
export const SUBSCRIPTIONS = [
  'ops@example.com',
  'https://events.example.com/sns',
  '+4915112345678',
  'arn:aws:lambda:us-east-1:123456789012:function:page',
  'arn:aws:sqs:us-east-1:123456789012:alarms',
  'arn:aws:sns:us-east-1:123456789012:operations',
] as const

const EVERY_OPTION = { ...ALL_OPTIONS, stackName: 'staging', alarmSubscriptions: SUBSCRIPTIONS.join() }

/**
 * The settings of the stacks whose templates are checked: to create a template takes long, and few settings affect each
 * other. Together they have every setting. `other values`: on demand, without streaming and monitoring, paused, with
 * its own table.
 */
export const OPTION_SETS = {
  default: {},
  'every option': EVERY_OPTION,
  'other values': {
    ...EVERY_OPTION,
    logRetentionDays: 1,
    monitoring: false,
    alarmSubscriptions: '',
    deployment: 'allAtOnce',
    corsOrigins: '*',
    domainBasePath: 'v1',
    publicUrl: '',
    disableExecuteApiEndpoint: false,
    oidcMapping: JSON.stringify({
      organization: '0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48',
      scopes: { claim: 'scope', values: { 'agents:run': ['run'], 'agents:read': ['read'] } },
    }),
    eventBus: 'arn:aws:events:us-east-1:210987654321:event-bus/all',
    tableName: '',
    embeddingModel: '',
    provisionedReadUnits: '',
    provisionedWriteUnits: '',
    responseStreaming: false,
    cloudWatchRole: false,
    paused: true,
  },
} satisfies Record<string, Record<string, unknown>>
