import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { Unauthorized } from '../lib/core/errors.ts'
import type { Match } from './match-route.ts'

export type Authorizer = (event: APIGatewayTokenAuthorizerEvent) => Promise<APIGatewayAuthorizerResult>

export type Authorization = Record<string, unknown>

/** What API Gateway does with a TOKEN authorizer: no header or "Unauthorized" is 401; the context goes to the function. */
export async function authorize(
  authorizer: Authorizer,
  header: string | undefined,
  match: Match,
): Promise<Authorization> {
  if (!header) throw new Unauthorized()
  const methodArn = `arn:aws:execute-api:local:000000000000:local/local/${match.route.method}${match.route.path}`
  const result = await authorizer({ type: 'TOKEN', methodArn, authorizationToken: header }).catch(
    (error: Error) => {
      throw error.message === 'Unauthorized' ? new Unauthorized() : error
    },
  )
  const isAllowed = result.policyDocument.Statement.every((statement) => statement.Effect === 'Allow')
  if (!isAllowed) throw new Unauthorized()
  return { principalId: result.principalId, ...result.context }
}
