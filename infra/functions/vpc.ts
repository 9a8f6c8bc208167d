import { Stack } from 'aws-cdk-lib'
import { CfnSecurityGroup } from 'aws-cdk-lib/aws-ec2'
import { Effect, type Role } from 'aws-cdk-lib/aws-iam'
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import { addStatement } from './permissions.ts'

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

/** By which Lambda connects functions to VPCs. https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html */
const INTERFACE_ACTIONS = [
  'AssignPrivateIpAddresses',
  'CreateNetworkInterface',
  'DeleteNetworkInterface',
  'UnassignPrivateIpAddresses',
]
/** They support no resource-level permissions. */
const DESCRIBE_ACTIONS = ['DescribeNetworkInterfaces', 'DescribeSubnets']

/**
 * Allows Lambda to connect the function to a VPC with the function's role, and denies the same to the code of agents,
 * which uses this role too: only requests from within a function have its ARN.
 * https://docs.aws.amazon.com/lambda/latest/dg/permissions-source-function-arn.html
 */
export function grantNetworkInterfaces(role: Role): void {
  const { partition, region, account } = Stack.of(role)
  // Lambda does not know the interface before it creates it, and requires all resources to delete it.
  const resources = [`arn:${partition}:ec2:${region}:${account}:*/*`]
  addStatement(role, 'ec2', { actions: INTERFACE_ACTIONS, resources })
  addStatement(role, 'ec2', { actions: DESCRIBE_ACTIONS, resources: ['*'] })
  addStatement(role, 'ec2', {
    effect: Effect.DENY,
    actions: [...INTERFACE_ACTIONS, ...DESCRIBE_ACTIONS, 'DetachNetworkInterface'],
    resources: ['*'],
    conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
  })
}
