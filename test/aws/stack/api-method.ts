import type { Template } from '../../../local/sam-template.ts'

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
