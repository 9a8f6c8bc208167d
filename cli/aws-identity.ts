import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { endpointsOf, type Identity } from '../lib/aws/identity.ts'

/**
 * Who the operator is for AWS: by environment, profile, single sign-on and all else that AWS's own SDK knows.
 * @throws the SDK's Error when there is no region
 */
export async function operatorIdentity(): Promise<Identity> {
  const { config } = new DynamoDBClient({})
  const region = await config.region()
  return { region, credentials: () => config.credentials(), endpointOf: endpointsOf(region, process.env) }
}
