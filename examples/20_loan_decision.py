"""A loan decision that explains itself: no model, no agent, only the engine."""

from agentfootprint.flow import Chart, Choice, Rule, StageContext, State, decide

BUREAU = {"Dana": 640, "Kim": 735}


class Loan(State):
    """What the stages share."""

    name: str
    income: int
    debt: int
    score: int
    ratio: float
    decision: str


chart = Chart("Loan", state=Loan)


@chart.start
def application(loan: Loan, ctx: StageContext) -> None:
    """Take the application in."""
    loan.name, loan.income, loan.debt = ctx.args.applicant, ctx.args.yearly_income, ctx.args.debts


@chart.stage
def credit_report(loan: Loan) -> None:
    """Ask the bureau."""
    loan.score = BUREAU[loan.name]


@chart.stage
def affordability(loan: Loan) -> None:
    """Debt for each unit of income."""
    loan.ratio = loan.debt / loan.income


@chart.decider
def assess(loan: Loan) -> Choice:
    """Apply the lending rules."""
    rules = [
        Rule(when={"score": {"gte": 700}, "ratio": {"lt": 0.5}}, then="approve", label="good credit, little debt"),
        Rule(when={"ratio": {"gte": 0.5}}, then="decline", label="too much debt"),
    ]
    return decide(loan, rules, default="refer")


@assess.branch("approve")
def approve(loan: Loan) -> None:
    loan.decision = "approved"


@assess.branch("decline")
def decline(loan: Loan) -> None:
    loan.decision = "declined"


@assess.branch("refer")
def refer(loan: Loan) -> None:
    loan.decision = "referred to a person"


flow = chart.build()
result = flow.run_sync({"applicant": "Dana", "yearly_income": 50_000, "debts": 34_000})
print(result.state["decision"])
print(result.why("decision"))  # from the decision down to where each number came from
