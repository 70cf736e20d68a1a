-- Sessions drawn to tune on, by problem type, and how many there were (AugESC 4.1).
SELECT problem, max(available) AS available, count(*) AS drawn
FROM augesc.training_sessions GROUP BY problem ORDER BY available DESC, problem
