import { CfnSecurityGroup } from 'aws-cdk-lib/aws-ec2'
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'

type VpcSettings = Record<'vpcId' | 'subnetIds' | 'securityGroupIds', string | null>

/** The ids in a setting, which commas separate. */
export const splitIds = (ids: string): string[] => ids.split(',').map((id) => id.trim())

/**
 * Where the functions that run agents are connected to the VPC of the settings; null without one. Nothing is looked up,
 * so that the template does not depend on the account. If no security group is set, it is one without inbound rules.
 */
export function createVpcConfig(
  scope: Construct,
  { vpcId, subnetIds, securityGroupIds }: VpcSettings,
): CfnFunction.VpcConfigProperty | null {
  if (!vpcId || !subnetIds) return null
  const createGroup = () =>
    new CfnSecurityGroup(scope, 'AgentSecurityGroup', {
      vpcId,
      groupDescription: 'Functions of the Agent Execution Service that run agents',
    }).attrGroupId
  return {
    subnetIds: splitIds(subnetIds),
    securityGroupIds: securityGroupIds ? splitIds(securityGroupIds) : [createGroup()],
  }
}
