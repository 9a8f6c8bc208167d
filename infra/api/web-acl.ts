import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'

/** Per 5 minutes. Clients are servers: one IP address can serve many users. */
const MAX_REQUESTS_PER_IP = 30_000

/**
 * Set to count, because an input is any text of up to 6 MB, HTML and links included.
 * https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
 */
const BODY_RULES = [
  'SizeRestrictions_BODY',
  'EC2MetaDataSSRF_BODY',
  'GenericLFI_BODY',
  'GenericRFI_BODY',
  'CrossSiteScripting_BODY',
]

/** Puts a web ACL in front of the API. */
export function createWebAcl(scope: Construct, { api, name }: { api: SpecRestApi; name: string }): void {
  const acl = new CfnWebACL(scope, 'WebAcl', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    // The dimension of all metrics of the web ACL.
    visibilityConfig: visibility(`${name}-WebAcl`),
    rules: [
      {
        name: 'requests-per-ip',
        priority: 0,
        action: { block: {} },
        visibilityConfig: visibility('RequestsPerIp'),
        statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: MAX_REQUESTS_PER_IP } },
      },
      {
        name: 'common-rules',
        priority: 1,
        overrideAction: { none: {} },
        visibilityConfig: visibility('CommonRules'),
        statement: {
          managedRuleGroupStatement: {
            vendorName: 'AWS',
            name: 'AWSManagedRulesCommonRuleSet',
            ruleActionOverrides: BODY_RULES.map((name) => ({ name, actionToUse: { count: {} } })),
          },
        },
      },
    ],
  })
  new CfnWebACLAssociation(scope, 'WebAclAssociation', {
    webAclArn: acl.attrArn,
    resourceArn: api.deploymentStage.stageArn,
  })
}

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  // Sampled requests contain headers, tokens included.
  sampledRequestsEnabled: false,
})
