import { DYNAMODB_ENDPOINT, QUEUE_URL, SQS_ENDPOINT, TABLE_NAME } from '../lib/environment.ts'
import { LOCAL_QUEUE, LOCAL_TABLE } from './emulators/provision.ts'

export type Template = {
  Resources: Record<string, { Type: string; Properties: ReturnType<typeof JSON.parse> }>
}

type Endpoints = { dynamodb: string; sqs: string }

/** The account id in the queue URLs of SQS emulators. */
const ACCOUNT = '000000000000'

/** The template with functions that use the table and the queue of `npm start` on emulators. */
export function toSamTemplate(
  { Resources, ...rest }: Template,
  { dynamodb, sqs }: Endpoints,
  arch: string,
): Template {
  const resources = Object.entries(Resources).map(([id, resource]) => {
    if (resource.Type !== 'AWS::Lambda::Function') return [id, resource] as const
    const { Variables } = resource.Properties.Environment
    const Environment = {
      Variables: {
        ...Variables,
        [TABLE_NAME]: LOCAL_TABLE,
        [DYNAMODB_ENDPOINT]: dynamodb,
        ...(QUEUE_URL in Variables && {
          [QUEUE_URL]: `${sqs}/${ACCOUNT}/${LOCAL_QUEUE}`,
          [SQS_ENDPOINT]: sqs,
        }),
      },
    }
    const Architectures = [arch === 'arm64' ? 'arm64' : 'x86_64']
    return [id, { ...resource, Properties: { ...resource.Properties, Architectures, Environment } }] as const
  })
  return { ...rest, Resources: Object.fromEntries(resources) }
}
