import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { CfnSubnet, CfnVPC } from 'aws-cdk-lib/aws-ec2'
import { describe, expect, it } from 'vitest'
import { AGENT_FUNCTIONS, FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { createVpcConfig } from '../../../infra/functions/vpc.ts'
import { parseProps } from '../../../infra/settings.ts'
import { OPTION_SETS } from '../all-options.ts'
import { findFunctionResource, findResource, findResources, statementsOf, synthesize } from '../synthesize.ts'

const { vpcId, subnetIds, securityGroupIds } = OPTION_SETS['every option']
const SUBNETS = subnetIds.split(',')
// `runner-instances.slow.test.ts`: what instances connect themselves.
const template = synthesize({ ...OPTION_SETS['every option'], runnerInstanceVcpus: '' })

const vpcOf = (of: Template, name: string) =>
  findFunctionResource(of, 'AWS::Lambda::Function', name).Properties.VpcConfig

const ec2StatementsOf = (of: Template, name: string) =>
  statementsOf(of, name).filter(({ Action }) => [Action].flat().some((action) => action.startsWith('ec2:')))

describe('vpcId', () => {
  it('connects the functions that run agents, and no others', () => {
    expect(FUNCTION_NAMES.filter((name) => vpcOf(template, name)).sort()).toEqual(AGENT_FUNCTIONS.toSorted())
    for (const name of AGENT_FUNCTIONS)
      expect(vpcOf(template, name)).toEqual({ SubnetIds: SUBNETS, SecurityGroupIds: [securityGroupIds] })
    template.resourceCountIs('AWS::EC2::SecurityGroup', 0)
  })

  it('creates one security group, without inbound rules, if none is set', () => {
    const own = synthesize({ vpcId, subnetIds })
    const [id = ''] = Object.keys(findResources(own, 'AWS::EC2::SecurityGroup'))
    const { VpcId, SecurityGroupIngress } = findResource(own, 'AWS::EC2::SecurityGroup').Properties
    expect([VpcId, SecurityGroupIngress]).toEqual([vpcId, undefined])
    for (const name of AGENT_FUNCTIONS)
      expect(vpcOf(own, name).SecurityGroupIds).toEqual([{ 'Fn::GetAtt': [id, 'GroupId'] }])
  })

  it('lets Lambda manage the interfaces of these functions, but not the code of agents', () => {
    for (const name of FUNCTION_NAMES) {
      const statements = ec2StatementsOf(template, name)
      if (!AGENT_FUNCTIONS.includes(name)) {
        expect(statements).toEqual([])
        continue
      }
      const allowed = statements
        .filter(({ Effect }) => Effect === 'Allow')
        .flatMap(({ Action }) => Action)
        .filter((action) => action.startsWith('ec2:'))
      const [denied, ...others] = statements.filter(({ Effect }) => Effect === 'Deny')
      expect(others).toEqual([])
      expect(denied).toMatchObject({
        Action: expect.arrayContaining(allowed),
        Resource: '*',
        Condition: { Null: { 'lambda:SourceFunctionArn': 'false' } },
      })
      expect(allowed.sort()).toEqual([
        'ec2:AssignPrivateIpAddresses',
        'ec2:CreateNetworkInterface',
        'ec2:DeleteNetworkInterface',
        'ec2:DescribeNetworkInterfaces',
        'ec2:DescribeSubnets',
        'ec2:UnassignPrivateIpAddresses',
      ])
    }
  })

  it('can be a VPC of the same app', () => {
    const stack = new Stack(new App())
    const vpc = new CfnVPC(stack, 'Vpc', { cidrBlock: '10.0.0.0/16' })
    const subnets = ['10.0.0.0/24', '10.0.1.0/24'].map(
      (cidrBlock, index) => new CfnSubnet(stack, `Subnet${index}`, { vpcId: vpc.ref, cidrBlock }),
    )
    const ids = { vpcId: vpc.ref, subnetIds: subnets.map(({ ref }) => ref).join(',') }
    const config = createVpcConfig(stack, parseProps({ name: 'service', ...ids }))
    expect(stack.resolve(config)).toMatchObject({ subnetIds: [{ Ref: 'Subnet0' }, { Ref: 'Subnet1' }] })
    Template.fromStack(stack).hasResourceProperties('AWS::EC2::SecurityGroup', { VpcId: { Ref: 'Vpc' } })
  })
})
