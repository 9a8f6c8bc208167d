import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { LARGE_BODY_MB_PER_MINUTE, MAX_OPEN_EXECUTIONS } from '../lib/core/limits.ts'
import { type KeySetting, STACK_KEYS } from '../lib/models/providers/provider-settings.ts'
import { getFunctionSettings } from './functions/function-settings.ts'
import {
  booleanSetting,
  integerSetting,
  isCorsOrigins,
  isModelName,
  isModelPrices,
  optionalSetting,
  parseBoolean,
  type Setting,
  stringSetting,
} from './setting.ts'

/** The retention periods of CloudWatch Logs, except "never expire". */
const RETENTION_PERIODS = Object.values(RetentionDays).filter(
  (days): days is RetentionDays => typeof days === 'number' && days !== RetentionDays.INFINITE,
)

/** https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html */
const PARAMETER_NAME = /^(?=.{1,1011}$)((\/[\w.-]+){1,15}|[\w.-]+)$/

/** `openaiKeyParameter` and its like: one row of the table. */
const KEY_SETTINGS = Object.fromEntries(
  STACK_KEYS.map(({ setting }) => [
    setting,
    optionalSetting({
      allowed: 'the name of an SSM parameter (SecureString, with the key `aws/ssm`)',
      description:
        'Parameter that holds the API key of a [model provider](models.md#providers). It is read at the first call of one of its models.',
      pattern: PARAMETER_NAME,
    }),
  ]),
) as Record<KeySetting, Setting<string | null>>

/** The name of the stack unless `stackName` is set. */
export const DEFAULT_STACK_NAME = 'AgentExecutionService'

export const SETTINGS = {
  // CloudFormation allows 128 characters; names that contain the name of the stack must fit as well.
  stackName: stringSetting({
    default: DEFAULT_STACK_NAME,
    allowed: '1 to 100 letters, digits and `-`, starting with a letter',
    description:
      'The name of the CloudFormation stack. The API, the dashboard, the alarms, the metrics and the path of the secrets carry it. Another name deploys another, independent service.',
    pattern: /^[A-Za-z][A-Za-z0-9-]{0,99}$/,
  }),
  stageName: stringSetting({
    default: 'live',
    allowed: '1 to 128 letters, digits, `_` and `-`',
    description: 'The API stage. It is the first segment of every path, except on a custom domain.',
    pattern: /^[\w-]{1,128}$/,
  }),
  responseStreaming: booleanSetting({
    default: true,
    description:
      'Streams responses: synchronous runs can take 270 s (calls of [MCP tools](mcp.md) 45 s) and return large outputs, and events arrive as they happen. When false, API Gateway buffers responses: a synchronous run can take 25 s (20 s), and clients of [events](executions.md#events) reconnect after each part.',
  }),
  httpPublishing: booleanSetting({
    default: false,
    description:
      'Lets tokens with the scope `manage` publish agents over HTTP. What they publish runs with the permissions of the functions and can use every secret of the stack: leave it off if the organizations of the stack do not trust each other. Operators publish with the command line in any case.',
  }),
  corsOrigins: {
    default: null,
    allowed: '`*`, or origins separated by commas, such as `https://app.example.com`',
    description: 'Origins of web pages that may call the API. If unset, browsers block cross-origin calls.',
    parse: (value: string) => (isCorsOrigins(value) ? value : undefined),
  } as Setting<string | null>,
  defaultModel: {
    default: null,
    allowed: '`{provider}/{model}` or `{provider}/{model}:{reasoning}`',
    description:
      'The model of agents that do not name one. If unset, Amazon Nova Lite as the [region](#default-model) of the stack offers it.',
    parse: (value: string) => (isModelName(value) ? value : undefined),
  } as Setting<string | null>,
  modelPrices: {
    default: null,
    allowed:
      'a JSON object such as `{"bedrock/my-model": {"input": 0.5, "output": 1.5}}`, optionally with `cachedInput` and `cacheWrite`, at most 2,000 characters',
    description:
      'Prices of models in US dollars per million tokens, for `costUsd` and budgets. They replace or complete the [price table](models.md#budgets). A name that ends in `*` applies to every model with that beginning.',
    parse: (value: string) => (value.length <= 2_000 && isModelPrices(value) ? value : undefined),
  } as Setting<string | null>,
  maxOpenExecutions: integerSetting({
    default: MAX_OPEN_EXECUTIONS,
    max: 9_999_999,
    description: 'Maximum executions in progress per organization. Further runs get 429.',
  }),
  largeBodyMbPerMinute: integerSetting({
    default: LARGE_BODY_MB_PER_MINUTE,
    min: 6,
    max: 100_000,
    description:
      'Megabytes per minute that an organization may send in request bodies of more than 256 kB. Further ones get 429.',
  }),
  throttlingRate: integerSetting({
    default: 1_000,
    max: 1_000_000,
    description: 'Requests per second that the API accepts. Further requests get 429.',
  }),
  // Half of an account's default burst, so that one API cannot starve the others.
  throttlingBurst: integerSetting({
    default: 2_500,
    max: 1_000_000,
    description: 'Maximum concurrent requests (burst).',
  }),
  executionRetentionDays: integerSetting({
    default: null,
    // More than the deadline of an execution, which is one day.
    min: 2,
    max: 3_650,
    description:
      'Days after which an execution expires, with its steps, payloads and cached result. DynamoDB deletes expired items within a few days. If unset, executions are kept until a client deletes them.',
  }),
  runnerConcurrency: integerSetting({
    default: 50,
    min: 2,
    max: 1_000,
    description:
      "Maximum concurrent runners. Keep it well below the account's concurrency quota: a throttled invocation uses up one of the five receives of its message.",
  }),
  runnerBatch: integerSetting({
    default: 1,
    max: 10,
    description:
      'Messages per runner invocation. Executions that mostly wait for a model then share the cost of one invocation, but also its memory and its 900 s. If one of them crashes the process, all of them are resumed.',
  }),
  streamConcurrency: integerSetting({
    default: null,
    max: 1_000,
    description:
      'Maximum event streams at the same time, of all clients together: the reserved concurrency of their function. Further requests get 500. If unset, streams can use up the concurrency of the account, which a reservation reduces for everything else.',
  }),
  agentMemoryMb: integerSetting({
    default: getFunctionSettings('process-execution').memoryMb,
    min: 256,
    max: 10_240,
    description:
      'Memory of the two functions that run agents. CPU and price are proportional to it. Where agents mostly wait for models, 512 halves the cost of waiting and lengthens cold starts (docs/decisions/0014).',
  }),
  logRetentionDays: {
    default: RetentionDays.ONE_MONTH,
    allowed: RETENTION_PERIODS.join(', '),
    description: 'Retention of function logs and API access logs.',
    parse: (value: string) => RETENTION_PERIODS.find((days) => String(days) === value),
  },
  monitoring: booleanSetting({
    default: false,
    description:
      'Creates the dashboard and the alarms. Like `kms` and `webAcl`, they have a fixed monthly price (docs/costs.md).',
  }),
  alarmEmail: optionalSetting({
    allowed: 'an email address',
    description:
      'Receives alarm notifications after confirming the subscription. If unset, alarms only change their state.',
    pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  }),
  domainName: optionalSetting({
    allowed: 'a host name, together with `certificateArn`',
    description:
      'Custom domain of the API, without a stage in its paths. Point its DNS record to the stack output `DomainTarget`.',
    pattern: /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/,
  }),
  certificateArn: optionalSetting({
    allowed: 'the ARN of an ACM certificate in the same region, together with `domainName`',
    description: 'Certificate of the custom domain.',
    pattern: /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
  }),
  domainBasePath: optionalSetting({
    allowed: 'segments of letters, digits, `.`, `_` and `-`, separated by `/`, together with `domainName`',
    description:
      'Base path of the API on the custom domain, such as `agents/v1`: its URLs then start with `https://{domainName}/agents/v1/v1`.',
    pattern: /^(?=.{1,200}$)[\w.-]+(\/[\w.-]+)*$/,
  }),
  disableExecuteApiEndpoint: {
    default: null,
    allowed: 'true or false',
    description:
      'Turns off the endpoint `execute-api`, so that clients reach the API on the custom domain only. If unset, it is on if there is no custom domain and off if there is one. Set false while clients move to the domain.',
    parse: (value: string) => parseBoolean(value),
  } as Setting<boolean | null>,
  webAcl: booleanSetting({
    default: false,
    description:
      "Puts an AWS WAF web ACL in front of the API: AWS's common rule set, with the rules on bodies set to count, and a limit of 30,000 requests per IP address in 5 minutes.",
  }),
  kms: booleanSetting({
    default: false,
    description:
      'Encrypts the table and the queues with a customer managed KMS key. The stack creates the key and retains it when the stack is deleted. When false, AWS owned keys are used.',
  }),
  deletionProtection: booleanSetting({
    default: false,
    description:
      'Protects the table from deletion by anyone. Turn it on after the first successful deployment: during it, the protection would prevent CloudFormation from cleaning up after a failure.',
  }),
  ...KEY_SETTINGS,
}

type Definitions = typeof SETTINGS
export type Settings = {
  [Name in keyof Definitions]: Definitions[Name] extends Setting<infer Value> ? Value : never
}
