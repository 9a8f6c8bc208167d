import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { clientConfig } from '../lib/aws-sdk.ts'
import { UserError } from './errors.ts'

/** What CloudFormation appends to a stack's name: the resource and random letters. Tables of the stack `<stack>-x` differ. */
const GENERATED = /^-[A-Za-z0-9]+-[A-Z0-9]+$/

/**
 * The name of a deployed stack's table. CloudFormation names it after stack and resource, so that it is found without
 * asking CloudFormation. A table outlives its stack: when there are several, `stack` may be the table's own name.
 * @throws UserError that names what was found instead
 */
export async function stackTable(stack: string): Promise<string> {
  const names = await tableNames()
  if (names.includes(stack)) return stack
  const prefixed = names.filter((candidate) => candidate.startsWith(`${stack}-`))
  const [name, ...others] = prefixed.filter((candidate) => GENERATED.test(candidate.slice(stack.length)))
  if (name && others.length === 0) return name
  if (name) {
    const names = [name, ...others].join(', ')
    throw new UserError(`Several tables are named after ${stack}: ${names}. Give the right one as --stack.`)
  }
  const instead = prefixed.length > 0 ? `, only ${prefixed.join(', ')}` : ''
  throw new UserError(
    `This AWS account and region has no table of a stack ${stack}${instead}. Deploy it: npx cdk deploy`,
  )
}

async function tableNames(): Promise<string[]> {
  const client = new DynamoDBClient(clientConfig())
  const names: string[] = []
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) names.push(...TableNames)
  return names
}
