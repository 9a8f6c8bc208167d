import type { SubscriptionProtocol } from 'aws-cdk-lib/aws-sns'

/** What a notification of an alarm is sent to. A topic is notified by the alarms themselves. */
export type AlarmTarget = { protocol: `${SubscriptionProtocol}` | 'topic'; endpoint: string }

const arnOf = (resource: string) => new RegExp(`^arn:aws[\\w-]*:${resource}$`)

/** https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html */
const TARGETS: [AlarmTarget['protocol'], RegExp][] = [
  ['email', /^[^\s@,:/]+@[^\s@,:/]+\.[^\s@,:/]+$/],
  ['https', /^https:\/\/[^\s/]+(?:\/\S*)?$/],
  // E.164: at most 15 digits, none of the country codes begins with 0.
  ['sms', /^\+[1-9]\d{6,14}$/],
  ['lambda', arnOf('lambda:[\\w-]+:\\d{12}:function:[\\w-]+(?::[\\w-]+)?')],
  ['sqs', arnOf('sqs:[\\w-]+:\\d{12}:[\\w-]+')],
  ['topic', arnOf('sns:[\\w-]+:\\d{12}:[\\w-]+')],
]

/** An alarm has at most five actions for each state; one of them is the topic of the stack. */
const MAX_TOPICS = 4

/**
 * Reads the targets of a list that is separated by commas.
 * @throws an Error that names the target that is not valid, or is listed twice
 */
export function parseAlarmSubscriptions(text: string): AlarmTarget[] {
  const targets = text.split(',').map((part) => parseTarget(part.trim()))
  const endpoints = targets.map(({ endpoint }) => endpoint)
  const repeated = endpoints.find((endpoint, index) => endpoints.indexOf(endpoint) !== index)
  if (repeated) throw new Error(`"${repeated}" is listed twice.`)
  if (targets.filter(({ protocol }) => protocol === 'topic').length > MAX_TOPICS)
    throw new Error(`At most ${MAX_TOPICS} SNS topics are possible.`)
  return targets
}

function parseTarget(endpoint: string): AlarmTarget {
  const [found] = TARGETS.find(([, pattern]) => pattern.test(endpoint)) ?? []
  if (found) return { protocol: found, endpoint }
  if (endpoint.startsWith('http:')) throw new Error(`"${endpoint}" has to be an https URL.`)
  if (/^arn:aws[\w-]*:sqs:.*\.fifo$/.test(endpoint))
    throw new Error(`"${endpoint}" is a FIFO queue, which accepts notifications of FIFO topics only.`)
  throw new Error(`"${endpoint}" is none of them.`)
}
