import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch'
import {
  type ILambdaDeploymentConfig,
  LambdaApplication,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Alias } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import type { DeploymentName } from '../../lib/contract/settings/runner.ts'
import { FUNCTION_NAMES, type FunctionName } from './function-settings.ts'

/**
 * How CodeDeploy shifts requests from one release to the next; null without CodeDeploy.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployment-configurations.html
 */
export const DEPLOYMENTS: Record<DeploymentName, ILambdaDeploymentConfig | null> = {
  allAtOnce: null,
  canary10Percent5Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  canary10Percent10Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
  canary10Percent15Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  canary10Percent30Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
  linear10PercentEvery1Minute: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
  linear10PercentEvery2Minutes: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_2MINUTES,
  linear10PercentEvery3Minutes: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_3MINUTES,
  linear10PercentEvery10Minutes: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_10MINUTES,
}

/**
 * Functions whose releases replace each other at once. A page of the console loads files whose names only its own
 * release knows, and one sweep a minute says nothing about a release.
 */
const AT_ONCE: FunctionName[] = ['serve-console', 'sweep-executions']

export const SHIFTED_FUNCTIONS = FUNCTION_NAMES.filter((name) => !AT_ONCE.includes(name))

/**
 * Lets CodeDeploy move the aliases, step by step. An alarm ends all steps, and with them the update of the stack:
 * CloudFormation then restores the previous release.
 */
export function shiftReleases(
  parent: Construct,
  functions: Record<FunctionName, { live: Alias }>,
  { deployment, alarms, atOnce }: { deployment: DeploymentName; alarms: IAlarm[]; atOnce: FunctionName[] },
): void {
  const deploymentConfig = DEPLOYMENTS[deployment]
  if (!deploymentConfig) return
  const scope = new Construct(parent, 'Release')
  const application = new LambdaApplication(scope, 'Application')
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') })
  for (const name of SHIFTED_FUNCTIONS.filter((name) => !atOnce.includes(name)))
    new LambdaDeploymentGroup(scope, name, {
      application,
      role,
      alias: functions[name].live,
      deploymentConfig,
      alarms,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    })
}
