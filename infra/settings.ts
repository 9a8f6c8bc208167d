import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Node } from 'constructs'
import { MAX_OPEN_EXECUTIONS } from '../lib/core/limits.ts'
import { parseModelName } from '../lib/models/model-name.ts'
import { settingsOf } from './functions/function-settings.ts'

/** A value of the CDK context that an operator may set; a row of the table in `docs/operations.md`. */
export type Setting<T> = {
  /** When the context has none, or an empty one. */
  otherwise: T
  /** In words, for the table and for the error. */
  allowed: string
  effect: string
  /** Undefined when the text is not allowed. `cdk.json` may give other JSON, `--context` gives text. */
  read: (text: string) => T | undefined
}

/** Those that CloudWatch Logs takes, without "for ever". */
const RETENTIONS = Object.values(RetentionDays).filter(
  (days): days is RetentionDays => typeof days === 'number' && days !== RetentionDays.INFINITE,
)

/** https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html */
const PARAMETER_NAME = /^(?=.{1,1011}$)((\/[\w.-]+){1,15}|[\w.-]+)$/

/** Everything that an operator may set. */
export const SETTINGS = {
  stageName: text({
    otherwise: 'live',
    allowed: '1 to 128 letters, digits, `_` and `-`',
    effect: 'The stage of the API, which is the first part of its paths unless there is a domain.',
    pattern: /^[\w-]{1,128}$/,
  }),
  responseStreaming: flag({
    otherwise: true,
    effect: 'Runs may take 270 s and answers be large; else API Gateway buffers: 25 s for a synchronous run.',
  }),
  defaultModel: {
    otherwise: 'bedrock/amazon.nova-lite-v1:0',
    allowed: '`{provider}/{model}` or `{provider}/{model}:{reasoning}`',
    effect: 'The model of agents that name none.',
    read: (value: string) => (isModelName(value) ? value : undefined),
  },
  maxOpenExecutions: whole({
    otherwise: MAX_OPEN_EXECUTIONS,
    max: 9_999_999,
    effect: 'Executions that an organization may have in progress; beyond that it gets 429.',
  }),
  throttlingRate: whole({
    otherwise: 1_000,
    max: 1_000_000,
    effect: 'Requests a second that the API takes; beyond that it answers 429.',
  }),
  // Half of an account's default burst, so that one API cannot starve the others.
  throttlingBurst: whole({
    otherwise: 2_500,
    max: 1_000_000,
    effect: 'Requests that it takes at once.',
  }),
  executionRetentionDays: whole({
    otherwise: null,
    // Past the deadline of a run, which is a day.
    min: 2,
    max: 3_650,
    effect:
      'Executions go that long after they began, with their steps, payloads and cached results; DynamoDB takes some days more to delete them. Without it they stay until a client deletes them.',
  }),
  runnerConcurrency: whole({
    otherwise: 50,
    min: 2,
    max: 1_000,
    effect:
      'Runners at work at the same time. Keep it well below the concurrency of the account: a runner that Lambda throttles has used up one of the five deliveries of its message.',
  }),
  runnerBatch: whole({
    otherwise: 1,
    max: 10,
    effect:
      'Messages that one runner takes at once. Runs that mostly wait for a model then share the price of a function; but they share its memory and its 900 s too, and one that takes the process down takes the others with it, to be resumed.',
  }),
  agentMemoryMb: whole({
    otherwise: settingsOf('process-execution').memoryMb,
    min: 256,
    max: 10_240,
    effect:
      'Memory of the two functions that run agents, and with it their share of a processor and their price. Where agents mostly wait for models, 512 halves the price of waiting and lengthens cold starts (docs/decisions/0014).',
  }),
  logRetentionDays: {
    otherwise: RetentionDays.ONE_MONTH,
    allowed: RETENTIONS.join(', '),
    effect: 'How long the logs of the functions and of the API are kept.',
    read: (value: string) => RETENTIONS.find((days) => String(days) === value),
  },
  watching: flag({
    otherwise: true,
    effect:
      'The dashboard and the alarms. They have a fixed price a month; so do `kms` and `webAcl`, and nothing else.',
  }),
  alarmEmail: optional({
    allowed: 'an e-mail address',
    effect: 'Gets the alarms, once it has confirmed the subscription. Without it they only change colour.',
    pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  }),
  domainName: optional({
    allowed: 'a host name, together with `certificateArn`',
    effect:
      'The API answers there too, without a stage in its paths. Point the name to the output `DomainTarget`.',
    pattern: /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/,
  }),
  certificateArn: optional({
    allowed: 'the ARN of an ACM certificate of the same region, together with `domainName`',
    effect: 'The certificate of the domain.',
    pattern: /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
  }),
  webAcl: flag({
    otherwise: false,
    effect:
      "A web ACL in front of the API: AWS's common rules, except those on bodies, and 30,000 requests an address in 5 minutes.",
  }),
  kms: flag({
    otherwise: false,
    effect:
      'Table and queues are encrypted with a key of your own, which the stack makes and never deletes; else with keys of AWS.',
  }),
  openaiKeyParameter: optional({
    allowed: 'the name of an SSM parameter (SecureString, with the key `aws/ssm`)',
    effect: 'Holds the API key of OpenAI, read when a model of theirs is first asked.',
    pattern: PARAMETER_NAME,
  }),
  anthropicKeyParameter: optional({
    allowed: 'the name of an SSM parameter (SecureString, with the key `aws/ssm`)',
    effect: 'The same for Anthropic.',
    pattern: PARAMETER_NAME,
  }),
}

type Definitions = typeof SETTINGS
export type Settings = {
  [Name in keyof Definitions]: Definitions[Name] extends Setting<infer Value> ? Value : never
}

/**
 * The settings as the CDK context of a construct's node has them.
 * @throws an Error that names the setting, its value and what is allowed
 */
export function readSettings(node: Node): Settings {
  const entries = Object.entries(SETTINGS).map(([name, setting]) => [name, readOne(node, name, setting)])
  const settings = Object.fromEntries(entries) as Settings
  if ((settings.domainName === null) !== (settings.certificateArn === null)) {
    throw new Error('The context values domainName and certificateArn go together: give both or none.')
  }
  return settings
}

function readOne(node: Node, name: string, { otherwise, read, allowed }: Setting<unknown>): unknown {
  const value = String(node.tryGetContext(name) ?? '')
  if (value === '') return otherwise
  const known = read(value)
  if (known === undefined) {
    throw new Error(`The context value ${name} is "${value}"; it must be ${allowed.replaceAll('`', '')}.`)
  }
  return known
}

function flag({ otherwise, effect }: { otherwise: boolean; effect: string }): Setting<boolean> {
  const read = (value: string) => ({ true: true, false: false })[value]
  return { otherwise, allowed: 'true or false', effect, read }
}

type Range<T> = { otherwise: T; min?: number; max: number; effect: string }

function whole<T extends number | null>({ otherwise, min = 1, max, effect }: Range<T>): Setting<number | T> {
  const read = (value: string) => {
    const number = /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max ? number : undefined
  }
  const shown = (number: number) => number.toLocaleString('en-US')
  return { otherwise, allowed: `a whole number from ${shown(min)} to ${shown(max)}`, effect, read }
}

type Pattern = { allowed: string; effect: string; pattern: RegExp }

function text({ otherwise, pattern, ...words }: Pattern & { otherwise: string }): Setting<string> {
  return { otherwise, ...words, read: (value) => (pattern.test(value) ? value : undefined) }
}

function optional({ pattern, ...words }: Pattern): Setting<string | null> {
  return { otherwise: null, ...words, read: (value) => (pattern.test(value) ? value : undefined) }
}

function isModelName(value: string): boolean {
  try {
    return parseModelName(value) !== null
  } catch {
    return false
  }
}
