import { Annotations } from 'aws-cdk-lib'
import { SecurityGroup, Subnet } from 'aws-cdk-lib/aws-ec2'
import { Architecture, CapacityProvider, type CfnFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'

/**
 * The size of an environment of `run-agent` or the runner on Lambda Managed Instances. Lambda requires 2,048 MB and one
 * processor, and allows 64 invocations per processor. An instance has room for both, so that the three that Lambda
 * keeps for a function serve the other one, too. `concurrency` is that of the local runner, whose runs share a process.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-managed-instances-nodejs-runtime.html
 */
export const INSTANCES = { memoryMb: 2_048, gibPerVcpu: 2, concurrency: 40 }

/** The maximum of an event source mapping. */
const MAX_CONCURRENCY = 1_000

/** As many runs at the same time as with batches. */
export const toInstanceConcurrency = ({
  runners,
  runnerBatch,
}: {
  runners: number
  runnerBatch: number
}): number => Math.min(runners * runnerBatch, MAX_CONCURRENCY)

/** Creates the capacity provider of the runner: EC2 instances in the subnets of the VPC that Lambda starts and ends. */
export function createRunnerInstances(
  scope: Construct,
  { subnetIds = [], securityGroupIds = [] }: CfnFunction.VpcConfigProperty,
  maxVCpuCount: number,
): CapacityProvider {
  return new CapacityProvider(scope, 'RunnerInstances', {
    architectures: [Architecture.ARM_64],
    maxVCpuCount,
    subnets: subnetIds.map((id, index) => {
      const subnet = Subnet.fromSubnetId(scope, `RunnerSubnet${index}`, id)
      // Its routes are of no use here.
      Annotations.of(subnet).acknowledgeWarning('@aws-cdk/aws-ec2:noSubnetRouteTableId')
      return subnet
    }),
    securityGroups: securityGroupIds.map((id, index) =>
      SecurityGroup.fromSecurityGroupId(scope, `RunnerSecurityGroup${index}`, id, { mutable: false }),
    ),
  })
}
