import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { clientConfig } from '../../lib/aws-sdk.ts'
import { UserError } from '../errors.ts'

/** CloudFormation appends the logical ID and random characters. Does not match the tables of a stack `<stack>-x`. */
const GENERATED_SUFFIX = /^-[A-Za-z0-9]+-[A-Z0-9]+$/

/**
 * Finds the name of a deployed stack's table by its prefix, so that the operator needs no CloudFormation permissions.
 * A retained table survives its stack: if there are several tables, `stack` may be the name of a table.
 * @throws UserError that lists the tables found
 */
export async function findStackTable(stack: string): Promise<string> {
  const names = await listTableNames()
  if (names.includes(stack)) return stack
  const prefixed = names.filter((candidate) => candidate.startsWith(`${stack}-`))
  const [name, ...others] = prefixed.filter((candidate) =>
    GENERATED_SUFFIX.test(candidate.slice(stack.length)),
  )
  if (name && others.length === 0) return name
  if (name) {
    const names = [name, ...others].join(', ')
    throw new UserError(`Stack ${stack} matches several tables: ${names}. Specify one of them with --stack.`)
  }
  const similar = prefixed.length > 0 ? ` Similar tables: ${prefixed.join(', ')}.` : ''
  throw new UserError(
    `No table found for stack ${stack} in this AWS account and region.${similar} Deploy the stack: npx cdk deploy --context stackName=${stack}`,
  )
}

async function listTableNames(): Promise<string[]> {
  const client = new DynamoDBClient(clientConfig())
  const names: string[] = []
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) names.push(...TableNames)
  return names
}
