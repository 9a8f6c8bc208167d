import { DYNAMODB_ENDPOINT, QUEUE_URL, SQS_ENDPOINT, TABLE_NAME } from '../lib/environment.ts'
import { LOCAL_TABLE } from './open-store.ts'
import { QUEUE_NAME } from './provision.ts'

export type Template = {
  Resources: Record<string, { Type: string; Properties: ReturnType<typeof JSON.parse> }>
}

type Endpoints = { dynamodb: string; sqs: string }

/** The account that emulators of SQS put into the addresses of queues. */
const ACCOUNT = '000000000000'

/** A template whose functions use the table and the queue that `npm start` makes on emulators. */
export function forSam(
  { Resources, ...rest }: Template,
  { dynamodb, sqs }: Endpoints,
  arch: string,
): Template {
  const changed = Object.entries(Resources).map(([id, resource]) => {
    if (resource.Type !== 'AWS::Lambda::Function') return [id, resource] as const
    const { Variables } = resource.Properties.Environment
    const Environment = {
      Variables: {
        ...Variables,
        [TABLE_NAME]: LOCAL_TABLE,
        [DYNAMODB_ENDPOINT]: dynamodb,
        ...(QUEUE_URL in Variables && {
          [QUEUE_URL]: `${sqs}/${ACCOUNT}/${QUEUE_NAME}`,
          [SQS_ENDPOINT]: sqs,
        }),
      },
    }
    const Architectures = [arch === 'arm64' ? 'arm64' : 'x86_64']
    return [id, { ...resource, Properties: { ...resource.Properties, Architectures, Environment } }] as const
  })
  return { ...rest, Resources: Object.fromEntries(changed) }
}
