import { Token } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Node } from 'constructs'
import * as z from 'zod'
import { MAPPING_RULE, parseMapping } from '../lib/access/claims.ts'
import {
  AUDIENCES_RULE,
  CLIENT_ID_RULE,
  findMissingSetting,
  ISSUER_RULE,
  ORIGIN_RULE,
  parseAudiences,
  parseClientId,
  parseIssuer,
  parseOrigin,
  parseScope,
  SCOPE_RULE,
} from '../lib/access/identity-settings.ts'
import { SHOWN_SIGN_IN_SCOPE } from '../lib/access/protected-resource.ts'
import * as limits from '../lib/core/limits.ts'
import { type Environment, MODEL_ENDPOINTS } from '../lib/environment.ts'
import { HOST_LIST_RULE, parseHosts } from '../lib/host-list.ts'
import { parseCorsOrigins } from '../lib/http/cors.ts'
import { parseEmbeddingModel } from '../lib/models/embed-text.ts'
import { parseModelEndpoints } from '../lib/models/endpoints/model-endpoints.ts'
import { parseModelName } from '../lib/models/model-name.ts'
import { parseModelPrices } from '../lib/models/prices/price-table.ts'
import { type KeySetting, STACK_KEYS } from '../lib/models/providers/provider-settings.ts'
import { PUBLIC_URL_RULE, parsePublicUrl } from '../lib/public-url.ts'
import { findSimilarName } from '../lib/schema/similar-names.ts'
import { checked, flag, integer, optional, parseSettings, setting } from '../lib/settings.ts'
import { divideConcurrency } from './functions/concurrency.ts'
import { DEPLOYMENT_NAMES, type DeploymentName } from './functions/deployment.ts'
import { getFunctionSettings } from './functions/function-settings.ts'
import { VCPUS } from './functions/runner-instances.ts'
import { splitIds } from './functions/vpc.ts'
import { parseAlarmSubscriptions } from './monitoring/subscriptions.ts'

/** The retention periods of CloudWatch Logs, except "never expire". */
const RETENTION_PERIODS = Object.values(RetentionDays).filter(
  (days): days is RetentionDays => typeof days === 'number' && days !== RetentionDays.INFINITE,
)

const RETENTION_PERIOD = z
  .enum(RETENTION_PERIODS.map(String))
  .transform((text): RetentionDays => Number(text))

/** https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html */
const PARAMETER_NAME = /^(?=.{1,1011}$)((\/[\w.-]+){1,15}|[\w.-]+)$/

const UNITS = { default: null, max: 9_999_999 } as const

/** `openaiKeyParameter` and its like: one row of the table. */
const KEY_SETTINGS = Object.fromEntries(
  STACK_KEYS.map(({ setting }) => [
    setting,
    optional(z.string().regex(PARAMETER_NAME), {
      allowed: 'the name of an SSM parameter (SecureString, with the key `aws/ssm`)',
      shownName: '{provider}KeyParameter',
      description:
        'Parameter that holds the API key of a [model provider](models.md#providers). It is read at the first call of one of its models.',
    }),
  ]),
) as Record<KeySetting, ReturnType<typeof optional<string>>>

/** Of a service. CloudFormation allows 128 characters; names that contain this one must fit as well. */
export const MAX_NAME_LENGTH = 100

const CERTIFICATE_ARN = z.string().regex(/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/)

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_CreateEventBus.html */
const EVENT_BUS = z.string().regex(/^(arn:aws[\w-]*:events:[\w-]+:\d{12}:event-bus\/)?[\w.-]{1,256}$/)

/** Ids of AWS with a prefix, separated by commas. In an app, each can be that of a resource of the app. */
function resourceIds(prefix: string, max = 1) {
  const id = new RegExp(`^${prefix}-[0-9a-f]{8}([0-9a-f]{9})?$`)
  return z.string().refine((text) => {
    const ids = splitIds(text)
    return (
      ids.length <= max &&
      new Set(ids).size === ids.length &&
      ids.every((each) => id.test(each) || Token.isUnresolved(each))
    )
  })
}

/** The name of the stack unless `stackName` is set. */
export const DEFAULT_STACK_NAME = 'AgentExecutionService'

/** @param environment which checks of models read */
const settingsOf = (environment: Environment) => ({
  stackName: setting(
    z
      .string()
      .max(MAX_NAME_LENGTH)
      .regex(/^[A-Za-z][A-Za-z0-9-]*$/),
    {
      default: DEFAULT_STACK_NAME,
      allowed: '1 to 100 letters, digits and `-`, starting with a letter',
      description:
        'The name of the CloudFormation stack. The API, the dashboard, the alarms, the metrics and the path of the secrets carry it. Another name deploys another, independent service.',
    },
  ),
  stageName: setting(z.string().regex(/^[\w-]{1,128}$/), {
    default: 'live',
    allowed: '1 to 128 letters, digits, `_` and `-`',
    description: 'The API stage. It is the first segment of every path, except on a custom domain.',
  }),
  responseStreaming: flag({
    default: true,
    description:
      'Streams responses: synchronous runs can take 270 s (calls of [MCP tools](mcp.md) 45 s) and return large outputs, and events arrive as they happen. When false, API Gateway buffers responses: a synchronous run can take 25 s (20 s), and clients of [events](executions.md#events) reconnect after each part.',
  }),
  httpPublishing: flag({
    default: false,
    description:
      'Lets tokens with the scope `manage` publish agents over HTTP. What they publish runs with the permissions of the functions and can use every secret of the stack: leave it off if the organizations of the stack do not trust each other. Operators publish with the command line in any case.',
  }),
  corsOrigins: optional(checked(parseCorsOrigins), {
    allowed: '`*`, or origins separated by commas, such as `https://app.example.com`',
    description: 'Origins of web pages that may call the API. If unset, browsers block cross-origin calls.',
  }),
  defaultModel: optional(
    checked((text) => parseModelName(text, environment)),
    {
      allowed: '`{provider}/{model}` or `{provider}/{model}:{reasoning}`',
      description:
        'The model of agents that do not name one. If unset, Amazon Nova Lite as the [region](#default-model) of the stack offers it.',
    },
  ),
  embeddingModel: optional(
    checked((text) => parseEmbeddingModel(text, environment)),
    {
      allowed: '`{provider}/{model}`',
      description:
        'The embedding model by which runs find similar inputs to [learn](learning.md#search) from, such as `bedrock/amazon.titan-embed-text-v2:0`. If unset, they compare words.',
    },
  ),
  modelPrices: optional(
    z
      .string()
      .max(2_000)
      .pipe(checked((text) => parseModelPrices(text, environment))),
    {
      allowed:
        'a JSON object such as `{"bedrock/my-model": {"input": 0.5, "output": 1.5}}`, optionally with `cachedInput` and `cacheWrite`, at most 2,000 characters',
      description:
        'Prices of models in US dollars per million tokens, for `costUsd` and budgets. They replace or complete the [price table](models.md#budgets). A name that ends in `*` applies to every model with that beginning.',
    },
  ),
  modelEndpoints: optional(z.string().max(2_500).pipe(checked(parseModelEndpoints)), {
    allowed:
      'a JSON object such as `{"groq": {"baseUrl": "https://api.groq.com/openai/v1"}}`, at most 2,500 characters',
    description:
      'Other servers of models, by name: [endpoints](endpoints.md). Their secrets are those of the stack, `/aes/<stackName>/secrets/NAME`.',
  }),
  maxOpenExecutions: integer({
    default: limits.MAX_OPEN_EXECUTIONS,
    description:
      'Maximum executions in progress per organization, without [suspended](waiting.md) ones. Further runs get 429.',
  }),
  maxSuspendedExecutions: integer({
    default: limits.MAX_SUSPENDED_EXECUTIONS,
    description:
      'Maximum [suspended](waiting.md#limits) executions per organization. A further run that would wait ends in ERROR `WaitLimitExceeded`.',
  }),
  maxWaitDays: integer({
    ...limits.MAX_WAIT_DAYS,
    description: 'Days that all waits of a run may last [together](waiting.md#limits).',
  }),
  largeBodyMbPerMinute: integer({
    default: limits.LARGE_BODY_MB_PER_MINUTE,
    min: 6,
    max: 100_000,
    description:
      'Megabytes per minute that an organization may send in request bodies of more than 256 kB. Further ones get 429.',
  }),
  throttlingRate: integer({
    default: 1_000,
    max: 1_000_000,
    description:
      'Requests per second that each method of each path accepts; the API as a whole is limited by the quota of the account. Further requests get 429. Public methods accept at most 100.',
  }),
  // Half of an account's default burst, so that one API cannot starve the others.
  throttlingBurst: integer({
    default: 2_500,
    max: 1_000_000,
    description:
      'Requests that each method of each path accepts at once, above its rate: the size of its token bucket. Public methods accept at most 200.',
  }),
  executionRetentionDays: integer({
    default: null,
    max: 3_650,
    description:
      'Days from the end of an execution until it expires, with its cached result. Its steps and payloads, which nobody can read then, are stored for `maxWaitDays` and 8 days more. DynamoDB deletes expired items within a few days. If unset, executions are kept until a client deletes them.',
  }),
  auditRetentionDays: integer({
    ...limits.AUDIT_RETENTION_DAYS,
    description:
      'Days for which the [audit log](identity.md#audit-log) keeps changes: those that are made from the time of the setting on.',
  }),
  eventBus: optional(EVENT_BUS.or(z.string().refine(Token.isUnresolved)), {
    allowed: 'the name of an EventBridge event bus of the account, or the ARN of one in the same region',
    description:
      'Receives the [events](webhooks.md#eventbridge) of all organizations. `executionRetentionDays` must then be at least 5, or unset.',
  }),
  webhookUrls: flag({
    default: false,
    description:
      'Lets every token that may run an agent name a [URL](webhooks.md#one-run) that receives the events of the run or the end of the batch, with the query parameter `webhookUrl`.',
  }),
  webhookHosts: optional(checked(parseHosts), {
    allowed: HOST_LIST_RULE,
    description:
      'Hosts with private addresses that [webhooks](webhooks.md), and tools of documents that are published over HTTP, may reach if they name them in `allowedHosts`. If unset, only public addresses.',
  }),
  runnerConcurrency: integer({
    default: 50,
    min: 2,
    max: 1_000,
    description:
      "Maximum concurrent runners of code agents, and the same number of model agents. Keep twice of it well below the account's concurrency quota: a throttled invocation uses up one of the five receives of its message.",
  }),
  runnerBatch: integer({
    default: 10,
    max: 10,
    description:
      'Maximum runs of model agents in one invocation of the runner, which they share the cost, the memory and the 900 s of. Runs of agents that have code, or call other agents, always have an invocation each. If one of them crashes the process, all of them are resumed, each in an invocation of its own.',
  }),
  runnerInstanceVcpus: integer({
    default: null,
    ...VCPUS,
    description:
      'Runs of model agents run on [managed instances](deploy.md#managed-instances) with at most this many vCPUs, instead of in batches. Requires `vpcId`.',
  }),
  accountConcurrency: integer({
    default: null,
    min: 10,
    description:
      "The account's quota of concurrent executions in the region. From 200 on, concurrency is [reserved](costs.md#fairness-between-organizations) for the authorizer, the sweeper and dead letters, functions whose requests wait are limited, and each organization to half of them. If unset, all functions share the account: requests that wait can stop everything.",
  }),
  agentMemoryMb: integer({
    default: getFunctionSettings('process-execution').memoryMb,
    min: 256,
    max: 10_240,
    description:
      'Memory of the three functions that run agents (`run-agent`, `serve-mcp`, `process-execution`). CPU and price are proportional to it. Where agents mostly wait for models, 512 halves the cost of waiting and lengthens cold starts (docs/decisions/0014).',
  }),
  vpcId: optional(resourceIds('vpc'), {
    allowed: 'the id of a VPC, together with `subnetIds`',
    description:
      'Connects the functions that run agents to this [VPC](deploy.md#private-hosts), so that tools can reach private hosts that they name in `allowedHosts`.',
  }),
  subnetIds: optional(resourceIds('subnet', 16), {
    allowed: 'ids of up to 16 subnets, separated by commas, together with `vpcId`',
    description:
      'Private subnets of the VPC, in at least two availability zones. Models, the table and the queues must be reachable from them.',
  }),
  securityGroupIds: optional(resourceIds('sg', 5), {
    allowed: 'ids of up to 5 security groups, separated by commas, together with `vpcId`',
    description:
      'Security groups of the functions in the VPC. If unset, the stack creates one that allows all outbound connections and no inbound ones.',
  }),
  logRetentionDays: setting(RETENTION_PERIOD, {
    default: RetentionDays.ONE_MONTH,
    allowed: RETENTION_PERIODS.join(', '),
    description: 'Retention of function logs and API access logs.',
  }),
  monitoring: flag({
    default: false,
    description:
      'Creates the dashboard and the alarms. Like `kms` and `webAcl`, they have a fixed monthly price (docs/costs.md).',
  }),
  alarmSubscriptions: optional(checked(parseAlarmSubscriptions), {
    allowed:
      'email addresses, https URLs, phone numbers such as `+4915112345678`, and ARNs of Lambda functions, SQS queues and SNS topics, separated by commas',
    description:
      'Receive a [notification](operations.md#notifications) when an alarm is raised and when it recovers. Addresses and URLs have to confirm their subscription.',
  }),
  deployment: setting<DeploymentName, 'allAtOnce'>(z.string().pipe(z.enum(DEPLOYMENT_NAMES)), {
    default: 'allAtOnce',
    allowed: DEPLOYMENT_NAMES.map((name) => `\`${name}\``).join(', '),
    description:
      'How a [release](deploy.md#canaries) replaces the previous one: at once, or by AWS CodeDeploy in steps, which end with a return to the previous release if an alarm is raised. The steps require `monitoring=true`.',
  }),
  domainName: optional(z.string().regex(/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/), {
    allowed: 'a host name, together with `certificateArn`',
    description:
      'Custom domain of the API, without a stage in its paths. Point its DNS record to the stack output `DomainTarget`.',
  }),
  certificateArn: optional(CERTIFICATE_ARN.or(z.string().refine(Token.isUnresolved)), {
    allowed: 'the ARN of an ACM certificate in the same region, together with `domainName`',
    description: 'Certificate of the custom domain.',
  }),
  domainBasePath: optional(z.string().regex(/^(?=.{1,200}$)[\w.-]+(\/[\w.-]+)*$/), {
    allowed: 'segments of letters, digits, `.`, `_` and `-`, separated by `/`, together with `domainName`',
    description:
      'Base path of the API on the custom domain, such as `agents/v1`: its URLs then start with `https://{domainName}/agents/v1/v1`.',
  }),
  publicUrl: optional(checked(parsePublicUrl), {
    allowed: PUBLIC_URL_RULE,
    description:
      'The URL of the API for other systems, as in the stack output `BaseUrl`: [callbacks](signals.md#callbacks) begin with it. If unset, `context.callbackUrl` throws.',
  }),
  oidcIssuer: optional(checked(parseIssuer), {
    allowed: ISSUER_RULE,
    description:
      'The [identity provider](identity.md) whose JSON Web Tokens are accepted beside API tokens, together with `oidcAudience` and `oidcMapping`. Its keys must be reachable from the internet. If unset, there are API tokens only.',
  }),
  oidcAudience: optional(checked(parseAudiences), {
    allowed: AUDIENCES_RULE,
    description:
      'The audiences of these tokens: each token must be for one of them. The console asks for tokens of the first one.',
  }),
  oidcMapping: optional(checked(parseMapping), {
    allowed: MAPPING_RULE,
    description:
      'The organization, the tenant, the scopes and the agents of a token by its [claims](identity.md#mapping).',
  }),
  oidcClientId: optional(checked(parseClientId), {
    allowed: CLIENT_ID_RULE,
    description:
      'The public client as which the [console](console.md) signs in at the identity provider. If unset, the console asks for an API token.',
  }),
  oidcScope: optional(checked(parseScope), {
    allowed: SCOPE_RULE,
    shownDefault: SHOWN_SIGN_IN_SCOPE,
    description:
      'The scopes that the console asks the identity provider for, such as `openid profile api://<id>/console` of Microsoft Entra ID.',
  }),
  oidcTokenOrigin: optional(checked(parseOrigin), {
    allowed: ORIGIN_RULE,
    description:
      "The origin of the provider's token endpoint, if it is another one than the issuer's, as with [Amazon Cognito](identity.md#sign-in-to-the-console). The console may then send requests to it.",
  }),
  disableExecuteApiEndpoint: flag({
    default: null,
    description:
      'Turns off the endpoint `execute-api`, so that clients reach the API on the custom domain only. If unset, it is on if there is no custom domain and off if there is one. Set false while clients move to the domain.',
  }),
  webAcl: flag({
    default: false,
    description:
      "Puts an AWS WAF web ACL in front of the API: AWS's common rule set, with the rules on bodies set to count, and a limit of 30,000 requests per IP address in 5 minutes.",
  }),
  kms: flag({
    default: false,
    description:
      'Encrypts the table and the queues with a customer managed KMS key. The stack creates the key and retains it when the stack is deleted. When false, AWS owned keys are used.',
  }),
  tableName: optional(z.string().regex(/^[\w.-]{3,255}$/), {
    allowed: 'the name of a DynamoDB table in the same account and region',
    description:
      'Uses this table, for example one that was [restored](recovery.md#restore), instead of the one that the stack creates and keeps. With a customer managed key other than that of the stack, the key must allow the account to use it through DynamoDB.',
  }),
  paused: flag({
    default: null,
    description:
      'Stops everything that reads or changes the table: requests get 503, no message is received, no sweep runs. If unset, a service with `tableName` is paused. Set false to go live.',
  }),
  warmReadUnits: integer({
    ...UNITS,
    min: 12_000,
    description:
      'Read units per second that the table and each index can take [at once](costs.md#throughput-of-the-table), at a price that is paid once per unit. Can only be raised. If unset, 12,000 until the load has grown.',
  }),
  warmWriteUnits: integer({
    ...UNITS,
    min: 4_000,
    description: 'The same in write units. If unset, 4,000 until the load has grown.',
  }),
  provisionedReadUnits: integer({
    ...UNITS,
    description:
      'Read units per second that the table and each index always have, together with `provisionedWriteUnits`: they are then paid per hour instead of per request, and scale up to `maxReadUnits`. If unset, the table is on demand.',
  }),
  provisionedWriteUnits: integer({ ...UNITS, description: 'The same in write units.' }),
  maxReadUnits: integer({
    ...UNITS,
    description:
      'Read units per second that the table and each index take at most: a limit of the cost. Further requests are throttled, and get 503. If unset, the quota of the account; with `provisionedReadUnits`, ten times as many.',
  }),
  maxWriteUnits: integer({
    ...UNITS,
    description: 'The same in write units. An index at its limit throttles the table.',
  }),
  cloudWatchRole: flag({
    default: true,
    description:
      'Sets the role with which API Gateway writes logs, a setting of the account and region. When false, the account must have one: without a role, the access log cannot be turned on.',
  }),
  deletionProtection: flag({
    default: false,
    description:
      'Protects the table from deletion by anyone. Turn it on after the first successful deployment: during it, the protection would prevent CloudFormation from cleaning up after a failure.',
  }),
  ...KEY_SETTINGS,
})

export const SETTINGS = settingsOf({})

/** The settings of the stack. */
export type Settings = z.output<z.ZodObject<typeof SETTINGS>>

/** The settings of a service, whose name is not always that of its stack. */
export type ServiceSettings = Omit<Settings, 'stackName'> & { name: string }

/** `undefined` and null: the default. */
export type SettingProps = {
  [Name in Exclude<keyof Settings, 'stackName'>]?: Settings[Name] | null | undefined
}

const MAX_MODEL_SETTINGS = 2_500

/** Keys of the CDK itself without `@` or `:`. `cdk acknowledge` writes the second one. */
const CDK_KEYS = ['cli-telemetry', 'acknowledged-issue-numbers']

/**
 * Reads the settings from the CDK context of a construct node.
 * @throws an Error that names each setting with an invalid value and the allowed values, or each unknown key and the
 * setting most like it
 */
export function readSettings(node: Node): Settings {
  // Feature flags contain `@`; keys of the CDK CLI contain `:`.
  const keys = Object.keys(node.getAllContext()).filter((key) => !CDK_KEYS.includes(key) && !/[@:]/.test(key))
  const context = Object.fromEntries(keys.map((key) => [key, node.tryGetContext(key)]))
  rejectUnknown(context, Object.keys(SETTINGS), 'context key')
  return parseValues(context, 'context value')
}

/**
 * Checks the props of a construct like the context of the stack.
 * @throws an Error as `readSettings`
 */
export function parseProps({ name, ...props }: SettingProps & { name: string }): ServiceSettings {
  const { stackName: _, ...names } = SETTINGS
  rejectUnknown(props, Object.keys(names), 'prop')
  const { stackName, ...settings } = parseValues({ ...props, stackName: name }, 'prop')
  return { name: stackName, ...settings }
}

function parseValues(values: Record<string, unknown>, kind: 'context value' | 'prop'): Settings {
  const textOf = (name: string) => String(values[name] ?? '')
  const settings = parseSettings(
    settingsOf({ [MODEL_ENDPOINTS]: textOf('modelEndpoints') }),
    textOf,
    ({ name, value, allowed, reason }) => {
      const shownName = kind === 'prop' && name === 'stackName' ? 'name' : name
      // Someone may have written a key where a reference belongs.
      const shown = name === 'modelEndpoints' ? '' : `: "${value}"`
      const token = Token.isUnresolved(value) ? 'It is known only during deployment.' : undefined
      return [`Invalid ${kind} ${shownName}${shown}. Allowed: ${allowed}.`, token ?? reason ?? []]
        .flat()
        .join(' ')
    },
  )
  rejectCombinations(settings)
  return settings
}

/** A table that the stack did not create is attached without anything that could run the executions in it. */
export const isPaused = ({ paused, tableName }: Pick<Settings, 'paused' | 'tableName'>): boolean =>
  paused ?? tableName !== null

/** A misspelled setting would deploy its default. */
function rejectUnknown(values: Record<string, unknown>, names: string[], kind: string): void {
  const unknown = Object.keys(values).filter((key) => !names.includes(key))
  if (unknown.length === 0) return
  const messages = unknown.map((key) => {
    const similar = findSimilarName(key, names)
    const hint = similar ? `did you mean ${similar}?` : `the settings are ${names.join(', ')}.`
    return `Unknown ${kind} ${key}; ${hint}`
  })
  throw new Error(messages.join('\n'))
}

function rejectCombinations(settings: Settings): void {
  const { domainName, certificateArn, domainBasePath, disableExecuteApiEndpoint } = settings
  const { monitoring, alarmSubscriptions, deployment } = settings
  const { modelPrices, modelEndpoints, vpcId, subnetIds, securityGroupIds } = settings
  const { provisionedReadUnits, provisionedWriteUnits } = settings
  const { eventBus, executionRetentionDays } = settings
  const reject = (reason: string) => {
    throw new Error(`Invalid settings: ${reason}`)
  }
  if ((domainName === null) !== (certificateArn === null))
    reject('set both domainName and certificateArn, or neither.')
  // Lambda allows 4 KB for all variables of a function.
  if ((modelPrices?.length ?? 0) + (modelEndpoints?.length ?? 0) > MAX_MODEL_SETTINGS)
    reject(`modelPrices and modelEndpoints may have ${MAX_MODEL_SETTINGS} characters together.`)
  if ((vpcId === null) !== (subnetIds === null)) reject('set both vpcId and subnetIds, or neither.')
  if (securityGroupIds && !vpcId) reject('securityGroupIds requires vpcId and subnetIds.')
  if (settings.runnerInstanceVcpus && !vpcId)
    reject('runnerInstanceVcpus requires vpcId and subnetIds, in which the instances run.')
  if (domainBasePath && !domainName) reject('domainBasePath requires domainName.')
  if (disableExecuteApiEndpoint && !domainName)
    reject('disableExecuteApiEndpoint=true requires domainName; clients could not reach the API.')
  if (alarmSubscriptions && !monitoring)
    reject('alarmSubscriptions requires monitoring=true; without alarms, nothing is sent.')
  if (deployment !== 'allAtOnce' && !monitoring)
    reject(`deployment=${deployment} requires monitoring=true; without alarms, no release would be undone.`)
  if ((provisionedReadUnits === null) !== (provisionedWriteUnits === null))
    reject('set both provisionedReadUnits and provisionedWriteUnits, or neither.')
  if (eventBus && (executionRetentionDays ?? limits.MIN_RETENTION_DAYS) < limits.MIN_RETENTION_DAYS)
    reject(
      `eventBus requires executionRetentionDays to be at least ${limits.MIN_RETENTION_DAYS}, or unset: deliveries are retried for three days.`,
    )
  const {
    oidcIssuer: issuer,
    oidcAudience: audience,
    oidcMapping: mapping,
    oidcClientId: clientId,
    oidcScope: scope,
    oidcTokenOrigin: tokenOrigin,
  } = settings
  const missing = findMissingSetting(
    { issuer, audience, mapping, clientId, scope, tokenOrigin },
    {
      issuer: 'oidcIssuer',
      audience: 'oidcAudience',
      mapping: 'oidcMapping',
      clientId: 'oidcClientId',
      scope: 'oidcScope',
      tokenOrigin: 'oidcTokenOrigin',
    },
  )
  if (missing) reject(missing)
  for (const unit of ['Read', 'Write'] as const)
    if (
      (settings[`max${unit}Units`] ?? Number.POSITIVE_INFINITY) < (settings[`provisioned${unit}Units`] ?? 0)
    )
      reject(`max${unit}Units must not be less than provisioned${unit}Units.`)
  divideConcurrency(settings)
}
