/**
 * Writes `cdk.out/sam.template.json` for `sam local start-api`: the synthesized template, with functions for this
 * machine's processor that use the emulators of `DYNAMODB_ENDPOINT` and `SQS_ENDPOINT`. The variables are written into
 * the template because SAM passes only declared ones.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  DELIVERY_QUEUE_URL,
  DYNAMODB_ENDPOINT,
  MODEL_QUEUE_URL,
  QUEUE_URL,
  requireEnv,
  SQS_ENDPOINT,
  TABLE_NAME,
} from '../lib/environment.ts'
import { deliveryQueueOf, LOCAL_QUEUE, LOCAL_TABLE } from './emulators/provision.ts'

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
          [MODEL_QUEUE_URL]: `${sqs}/${ACCOUNT}/${LOCAL_QUEUE}`,
          [SQS_ENDPOINT]: sqs,
        }),
        ...(DELIVERY_QUEUE_URL in Variables && {
          [DELIVERY_QUEUE_URL]: `${sqs}/${ACCOUNT}/${deliveryQueueOf(LOCAL_QUEUE)}`,
          [SQS_ENDPOINT]: sqs,
        }),
      },
    }
    const Architectures = [arch === 'arm64' ? 'arm64' : 'x86_64']
    return [id, { ...resource, Properties: { ...resource.Properties, Architectures, Environment } }] as const
  })
  return { ...rest, Resources: Object.fromEntries(resources) }
}

const OUT = new URL('../cdk.out/', import.meta.url)

type Manifest = { artifacts: Record<string, { type: string; properties: { templateFile?: string } }> }

const readJson = (file: string) => JSON.parse(readFileSync(new URL(file, OUT), 'utf8'))

/** The template has the name of the stack. */
function findTemplateFile({ artifacts }: Manifest): string {
  const stack = Object.values(artifacts).find(({ type }) => type === 'aws:cloudformation:stack')
  if (!stack?.properties.templateFile) throw new Error('cdk.out contains no stack.')
  return stack.properties.templateFile
}

if (import.meta.main) {
  try {
    const endpoints = { dynamodb: requireEnv(DYNAMODB_ENDPOINT), sqs: requireEnv(SQS_ENDPOINT) }
    const template: Template = readJson(findTemplateFile(readJson('manifest.json')))
    const samTemplate = toSamTemplate(template, endpoints, process.arch)
    writeFileSync(new URL('sam.template.json', OUT), JSON.stringify(samTemplate))
    console.log('Wrote cdk.out/sam.template.json. Next: sam local start-api -t cdk.out/sam.template.json')
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}
