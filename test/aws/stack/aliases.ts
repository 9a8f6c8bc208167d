import { CreateAliasCommand, LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda'
import type { Template } from '../../../local/sam-template.ts'
import { sdkConfig } from '../../support/tables/sdk.ts'
import { REGION } from '../emulators/start-server.ts'

type Aliases = { functionId: string; name: string }[]

/** Moto has no aliases in CloudFormation: what refers to one refers to its function instead. */
export function removeAliases(template: Template): Aliases {
  const aliases = Object.entries(template.Resources).filter(([, { Type }]) => Type === 'AWS::Lambda::Alias')
  const functionOf = new Map<string, string>(
    aliases.map(([id, { Properties }]) => [id, Properties.FunctionName.Ref]),
  )
  for (const [id] of aliases) delete template.Resources[id]
  for (const { Type, Properties } of Object.values(template.Resources)) {
    if (Type !== 'AWS::Lambda::EventSourceMapping') continue
    // The name of the function and ":live".
    const [, [name]] = Properties.FunctionName['Fn::Join']
    Properties.FunctionName = name
  }
  template.Resources = JSON.parse(JSON.stringify(template.Resources), (_, value) =>
    functionOf.has(value?.Ref) ? { 'Fn::GetAtt': [functionOf.get(value.Ref), 'Arn'] } : value,
  )
  return aliases.map(([, { Properties }]) => ({
    functionId: Properties.FunctionName.Ref,
    name: Properties.Name,
  }))
}

/** Creates the aliases of the template on the only version of each function. */
export async function createAliases(
  stack: string,
  aliases: Aliases,
  environment: Record<string, string>,
): Promise<void> {
  const client = new LambdaClient({ ...sdkConfig(environment.AWS_ENDPOINT_URL ?? ''), region: REGION })
  const functions = await listFunctions(client)
  for (const { functionId, name } of aliases) {
    const FunctionName = functions.find((candidate) => candidate.startsWith(`${stack}-${functionId}`))
    await client.send(new CreateAliasCommand({ FunctionName, Name: name, FunctionVersion: '1' }))
  }
}

export async function listFunctions(client: LambdaClient): Promise<string[]> {
  const names: string[] = []
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    names.push(...Functions.map(({ FunctionName = '' }) => FunctionName))
  return names
}

/** Moto ignores the document that defines an API, and deploys none without a method: adds one. */
export function addApiMethod({ Resources }: Template): void {
  const idOf = (type: string) => Object.keys(Resources).find((id) => Resources[id]?.Type === type)
  const [api, deployment] = [idOf('AWS::ApiGateway::RestApi'), idOf('AWS::ApiGateway::Deployment')]
  if (!api || !deployment) throw new Error('The template has no API.')
  Resources.ApiMethod = {
    Type: 'AWS::ApiGateway::Method',
    Properties: {
      RestApiId: { Ref: api },
      ResourceId: { 'Fn::GetAtt': [api, 'RootResourceId'] },
      HttpMethod: 'GET',
      AuthorizationType: 'NONE',
      Integration: { Type: 'MOCK', IntegrationHttpMethod: 'POST', Uri: '' },
    },
  }
  Object.assign(Resources[deployment] ?? {}, { DependsOn: ['ApiMethod'] })
}
