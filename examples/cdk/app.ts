/** A stack with the service and resources of its own: `npm install`, and `npx cdk synth --app 'node app.ts'`. */
import { AgentExecutionService } from 'agent-execution-service/cdk'
import { App, CfnOutput, Stack } from 'aws-cdk-lib'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Code, Function as Lambda, Runtime } from 'aws-cdk-lib/aws-lambda'
import { Topic } from 'aws-cdk-lib/aws-sns'

const stack = new Stack(new App(), 'Shop')

/** Agents can use it as a tool: its name starts with `agent-tool-`. */
new Lambda(stack, 'FindOrder', {
  functionName: 'agent-tool-find-order',
  runtime: Runtime.NODEJS_24_X,
  handler: 'index.handler',
  code: Code.fromInline('exports.handler = async ({ orderId }) => ({ orderId, status: "shipped" })'),
})

const agents = new AgentExecutionService(stack, 'Agents', {
  name: 'shop-agents',
  runnerConcurrency: 20,
})

const pager = new Topic(stack, 'Pager')
for (const alarm of agents.alarms) alarm.addAlarmAction(new SnsAction(pager))

new CfnOutput(stack, 'AgentsUrl', { value: agents.url })
