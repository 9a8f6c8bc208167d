import {
  BasePathMapping,
  DomainName,
  EndpointType,
  SecurityPolicy,
  type SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import type { Construct } from 'constructs'
import type { ServiceSettings } from '../settings.ts'

/** The base URL of the API on its custom domain, without a trailing slash. */
export const getDomainUrl = (domainName: string, basePath: string | null): string =>
  `https://${domainName}${basePath ? `/${basePath}` : ''}`

/**
 * The custom domain of the API, if configured. The operator creates the DNS record, wherever the zone is.
 * @returns the base URL of the API, without a trailing slash, and the target of the DNS record
 */
export function createDomain(
  scope: Construct,
  api: SpecRestApi,
  { domainName, certificateArn, domainBasePath }: ServiceSettings,
) {
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
    url: getDomainUrl(domainName, domainBasePath),
    target: domain.domainNameAliasDomainName,
  }
}
