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

/** The custom domain of the API, if one is configured. The operator creates the DNS record: the zone can be hosted anywhere. */
export function createDomain(
  scope: Construct,
  { api, settings }: { api: RestApi; settings: Pick<Settings, 'domainName' | 'certificateArn'> },
): DomainName | null {
  const { domainName, certificateArn } = settings
  if (!domainName || !certificateArn) return null
  const domain = new DomainName(scope, 'Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  })
  new BasePathMapping(scope, 'BasePathMapping', {
    domainName: domain,
    restApi: api,
    stage: api.deploymentStage,
  })
  return domain
}
