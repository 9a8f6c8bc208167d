import { GetTemplateCommand, paginateListStackResources } from '@aws-sdk/client-cloudformation'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { toLogicalIdPrefix } from '../../infra/synthesize.ts'
import type { Account } from './account.ts'

export type StackResource = { logicalId: string; type: string; id: string }

export async function listResources(
  { cloudFormation }: Account,
  StackName: string,
): Promise<StackResource[]> {
  const resources: StackResource[] = []
  for await (const page of paginateListStackResources({ client: cloudFormation }, { StackName }))
    for (const {
      LogicalResourceId = '',
      ResourceType = '',
      PhysicalResourceId = '',
    } of page.StackResourceSummaries ?? [])
      resources.push({ logicalId: LogicalResourceId, type: ResourceType, id: PhysicalResourceId })
  return resources
}

/** @throws an Error unless exactly one resource of the type has a logical id that begins so */
export function findResource(resources: StackResource[], type: string, prefix: string): string {
  const found = resources.filter(
    (each) => each.type === type && new RegExp(`^${prefix}[0-9A-F]{8}$`).test(each.logicalId),
  )
  const [resource] = found
  if (!resource || found.length > 1)
    throw new Error(`The stack has ${found.length} ${type} ${prefix}, expected one.`)
  return resource.id
}

export const findFunction = (resources: StackResource[], name: FunctionName): string =>
  findResource(resources, 'AWS::Lambda::Function', `${toLogicalIdPrefix(name)}Function`)

/** Those that CloudFormation leaves in the account when it deletes the stack. */
export async function findRetained(account: Account, StackName: string): Promise<StackResource[]> {
  const { TemplateBody = '{}' } = await account.cloudFormation.send(new GetTemplateCommand({ StackName }))
  const { Resources = {} } = JSON.parse(TemplateBody) as {
    Resources?: Record<string, { DeletionPolicy?: string }>
  }
  const resources = await listResources(account, StackName)
  return resources.filter(({ logicalId }) => /^Retain/.test(Resources[logicalId]?.DeletionPolicy ?? ''))
}

/** How to delete a resource that was retained. */
export function deletionCommand({ type, id }: StackResource): string {
  if (type === 'AWS::DynamoDB::Table') return `aws dynamodb delete-table --table-name ${id}`
  if (type === 'AWS::KMS::Key')
    return `aws kms schedule-key-deletion --pending-window-in-days 7 --key-id ${id}`
  return `delete the ${type} ${id}`
}
