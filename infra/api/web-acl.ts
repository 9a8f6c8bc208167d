import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'

/** In 5 minutes. Clients are servers: many users may stand behind one address. */
const MAX_REQUESTS_AN_ADDRESS = 30_000

/**
 * They only count: inputs are any text, up to 6 MB of it, HTML and links included.
 * https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
 */
const RULES_ON_BODIES = [
  'SizeRestrictions_BODY',
  'EC2MetaDataSSRF_BODY',
  'GenericLFI_BODY',
  'GenericRFI_BODY',
  'CrossSiteScripting_BODY',
]

/** A web ACL in front of the API. */
export function createWebAcl(scope: Construct, api: RestApi): void {
  const acl = new CfnWebACL(scope, 'WebAcl', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: seenAs('WebAcl'),
    rules: [
      {
        name: 'requests-an-address',
        priority: 0,
        action: { block: {} },
        visibilityConfig: seenAs('RequestsAnAddress'),
        statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: MAX_REQUESTS_AN_ADDRESS } },
      },
      {
        name: 'common-rules',
        priority: 1,
        overrideAction: { none: {} },
        visibilityConfig: seenAs('CommonRules'),
        statement: {
          managedRuleGroupStatement: {
            vendorName: 'AWS',
            name: 'AWSManagedRulesCommonRuleSet',
            ruleActionOverrides: RULES_ON_BODIES.map((name) => ({ name, actionToUse: { count: {} } })),
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

const seenAs = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  // Samples hold headers, tokens included.
  sampledRequestsEnabled: false,
})
