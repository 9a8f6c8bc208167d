import {
  BasePathMapping,
  DomainName,
  EndpointType,
  type RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import type { Construct } from 'constructs'
import type { Settings } from '../settings.ts'

type DomainProps = {
  api: RestApi
  settings: Pick<Settings, 'domainName' | 'certificateArn' | 'domainBasePath'>
}

export type Domain = {
  /** The base URL of the API on the domain, without a trailing slash. */
  url: string
  /** The target of the DNS record. */
  target: string
}

/** The custom domain of the API, if configured. The operator creates the DNS record, wherever the zone is. */
export function createDomain(scope: Construct, { api, settings }: DomainProps): Domain | null {
  const { domainName, certificateArn, domainBasePath } = settings
  if (!domainName || !certificateArn) return null
  const domain = new DomainName(scope, 'Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  })
  // A base path mapping has one segment at most, an API mapping any number.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-mappings.html
  if (domainBasePath?.includes('/')) domain.addApiMapping(api.deploymentStage, { basePath: domainBasePath })
  else
    new BasePathMapping(scope, 'BasePathMapping', {
      domainName: domain,
      restApi: api,
      stage: api.deploymentStage,
      ...(domainBasePath && { basePath: domainBasePath }),
    })
  return {
    url: `https://${domainName}${domainBasePath ? `/${domainBasePath}` : ''}`,
    target: domain.domainNameAliasDomainName,
  }
}
